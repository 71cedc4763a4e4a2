#include "generator/spec/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "generator/spec/text.h"

namespace rocegen::spec {

namespace {

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  /// Closes now; false with errno set if that fails (a file system may report a full disk only here).
  bool close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0;
  }

 private:
  int fd_;
};

// strerror in lower case at the front, as our messages are.
std::string reason(int error) {
  std::string text = std::strerror(error);
  if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a') {
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  }
  return text;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// The file of the same folder whose name is nearest to a missing one, or empty.
std::string nearest_file(const std::filesystem::path& missing) {
  constexpr std::size_t kMostFiles = 1000;
  const std::filesystem::path folder = missing.has_parent_path() ? missing.parent_path() : ".";
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end && names.size() < kMostFiles;
       it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const std::string near = nearest(missing.filename().string(), names);
  return near.empty() ? near : (missing.parent_path() / near).string();
}

bool write_failed(const std::string& path, int error, Diagnostics& diagnostics) {
  Diagnostic& d = diagnostics.error("E0107", file_place(path), fmt::format("cannot write: {}", reason(error)));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      d.help(fmt::format("create the folder {} first", std::filesystem::path(path).parent_path().string()));
      break;
    case ENOSPC:
    case EDQUOT:
      d.help("free some space, or write to another disk");
      break;
    case EISDIR:
      d.help("name a file inside of the folder");
      break;
    default:
      break;
  }
  return false;
}

}  // namespace

std::optional<std::string> read_text_file(const std::string& path, Diagnostics& diagnostics, std::size_t max_bytes) {
  const bool standard_input = path == "-";
  const std::string name = standard_input ? "<stdin>" : path;
  Descriptor file(standard_input ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) {
      Diagnostic& d =
          diagnostics.error("E0101", file_place(name), path.empty() ? "file name is empty" : "no such file");
      const std::string near = nearest_file(path);
      if (!near.empty()) d.help(fmt::format("did you mean {}?", near));
    } else {
      diagnostics.error("E0103", file_place(name), fmt::format("cannot read: {}", reason(error)));
    }
    return std::nullopt;
  }
  struct stat info {};
  if (::fstat(file.get(), &info) == 0 && S_ISDIR(info.st_mode)) {
    diagnostics.error("E0102", file_place(name), "is a folder, expected a file")
        .help("name a file inside of the folder");
    return std::nullopt;
  }
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      diagnostics.error("E0103", file_place(name), fmt::format("cannot read: {}", reason(errno)));
      return std::nullopt;
    }
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > max_bytes) {
      diagnostics.error("E0105", file_place(name), fmt::format("file is larger than {} KiB", max_bytes / 1024));
      return std::nullopt;
    }
  }
}

bool write_text_file(const std::string& path, std::string_view text, Diagnostics& diagnostics) {
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return write_failed(path, EISDIR, diagnostics);
  if (exists && !S_ISREG(info.st_mode)) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0 || !write_all(file.get(), text) || !file.close()) return write_failed(path, errno, diagnostics);
    return true;
  }
  // A symbolic link stays a link: its target is what is replaced.
  std::error_code ignored;
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(path, ignored);
  const std::string target = ignored || canonical.empty() ? path : canonical.string();
  if (exists && ::access(target.c_str(), W_OK) != 0) return write_failed(path, errno, diagnostics);
  std::string temporary = target + ".XXXXXX";
  Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) return write_failed(path, errno, diagnostics);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const mode_t mode = exists ? info.st_mode & 07777U : 0666U & ~mask;
  if (!write_all(file.get(), text) || ::fchmod(file.get(), mode) != 0 || !file.close() ||
      ::rename(temporary.c_str(), target.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return write_failed(path, error, diagnostics);
  }
  return true;
}

bool write_stdout(std::string_view text, Diagnostics& diagnostics) {
  std::clearerr(stdout);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return write_failed("<stdout>", errno, diagnostics);
  }
  return true;
}

}  // namespace rocegen::spec

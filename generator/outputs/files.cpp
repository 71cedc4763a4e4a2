#include "generator/outputs/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace rocegen::outputs {

namespace fs = std::filesystem;

namespace {

/// Writes a whole file and reports what went wrong as errno; 0 when all is on its way to the disk.
int write_file(const fs::path& path, const std::string& content) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return errno;
  std::size_t done = 0;
  int fault = 0;
  while (done < content.size() && fault == 0) {
    const ssize_t n = ::write(fd, content.data() + done, content.size() - done);
    if (n > 0)
      done += static_cast<std::size_t>(n);
    else if (n < 0 && errno != EINTR)
      fault = errno;
  }
  if (::close(fd) != 0 && fault == 0) fault = errno;
  return fault;
}

/// Exchanges two folders in one step (renameat2, RENAME_EXCHANGE = 2); false where the file system cannot.
bool exchange(const fs::path& a, const fs::path& b) {
  return ::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), 2U) == 0;
}

/// A folder that is gone again unless it was put in place.
struct Scratch {
  fs::path path;
  ~Scratch() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }
};

/// Folders that killed runs left beside the target: named by process id, removed when that process is gone.
void remove_leftovers(const fs::path& parent, const std::string& prefix) {
  std::error_code ec;
  std::vector<fs::path> stale;
  for (const auto& entry : fs::directory_iterator(parent, ec)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const std::string pid = name.substr(prefix.size());
    if (pid.empty() || !std::all_of(pid.begin(), pid.end(), [](char c) { return c >= '0' && c <= '9'; })) continue;
    if (!fs::exists("/proc/" + pid)) stale.push_back(entry.path());
  }
  for (const auto& path : stale) fs::remove_all(path, ec);
}

}  // namespace

void FileSet::add(std::string path, std::string content) {
  if (find(path) != nullptr) throw std::logic_error("output file written twice: " + path);
  files_.emplace_back(std::move(path), std::move(content));
}

const std::string* FileSet::find(const std::string& path) const {
  for (const auto& [name, content] : files_)
    if (name == path) return &content;
  return nullptr;
}

bool replace_folder(const fs::path& target_in, const FileSet& files, const std::vector<std::string>& keep,
                    spec::Diagnostics& diagnostics) {
  fs::path target = target_in.lexically_normal();
  if (!target.has_filename()) target = target.parent_path();
  const auto fail = [&](const fs::path& path, const std::string& what) {
    diagnostics.error("E0502", spec::file_place(path.string()), what)
        .help("free some space or choose another folder with -o");
    return false;
  };
  std::error_code ec;
  const bool exists = fs::exists(target, ec);
  if (exists && !fs::is_directory(target, ec)) return fail(target, "the output folder is a file");
  if (exists && !fs::is_empty(target, ec) && !fs::exists(target / "manifest.json", ec)) {
    diagnostics.error("E0501", spec::file_place(target.string()), "the folder exists and was not written by rocegen")
        .help("remove it, or choose another folder with -o");
    return false;
  }
  const fs::path parent = target.has_parent_path() ? target.parent_path() : fs::path(".");
  fs::create_directories(parent, ec);
  if (ec) return fail(parent, "cannot make the folder: " + ec.message());

  const std::string prefix = "." + target.filename().string() + ".rocegen-";
  remove_leftovers(parent, prefix);
  Scratch scratch{parent / fmt::format("{}{}", prefix, ::getpid())};
  fs::remove_all(scratch.path, ec);
  if (!fs::create_directory(scratch.path, ec)) return fail(scratch.path, "cannot make the folder: " + ec.message());
  for (const auto& [name, content] : files.files()) {
    const fs::path path = scratch.path / name;
    fs::create_directories(path.parent_path(), ec);
    if (ec) return fail(path, "cannot make the folder: " + ec.message());
    if (const int fault = write_file(path, content); fault != 0)
      return fail(path, std::string("cannot write: ") + std::strerror(fault));
  }
  if (!exists) {
    fs::rename(scratch.path, target, ec);
    if (ec) return fail(target, "cannot put the output in place: " + ec.message());
    scratch.path.clear();
    return true;
  }
  for (const std::string& name : keep) {
    if (!fs::exists(target / name, ec) || fs::exists(scratch.path / name, ec)) continue;
    fs::create_directories((scratch.path / name).parent_path(), ec);
    fs::copy(target / name, scratch.path / name, fs::copy_options::recursive | fs::copy_options::copy_symlinks, ec);
    if (ec) return fail(target / name, "cannot keep it: " + ec.message());
  }
  if (!exchange(scratch.path, target)) {
    // Without RENAME_EXCHANGE two renames must do; a kill between them leaves the old folder under its scratch name.
    const fs::path old = parent / (prefix + "old");
    fs::remove_all(old, ec);
    fs::rename(target, old, ec);
    if (ec) return fail(target, "cannot move the old output away: " + ec.message());
    fs::rename(scratch.path, target, ec);
    if (ec) {
      std::error_code back;
      fs::rename(old, target, back);
      return fail(target, "cannot put the output in place: " + ec.message());
    }
    scratch.path = old;
  }
  return true;
}

}  // namespace rocegen::outputs

#include "generator/cli/model.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "generator/cli/tool.h"
#include "generator/outputs/outputs.h"
#include "generator/spec/files.h"

namespace rocegen::cli {

namespace fs = std::filesystem;

namespace {

/// Entries kept; the oldest go when there are more.
constexpr std::size_t kKeep = 48;

fs::path cache_folder() {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? fs::path(value) : fs::path();
  };
  if (fs::path own = set("ROCEGEN_CACHE"); !own.empty()) return own;
  if (fs::path xdg = set("XDG_CACHE_HOME"); !xdg.empty()) return xdg / "rocegen";
  if (fs::path home = set("HOME"); !home.empty()) return home / ".cache" / "rocegen";
  return fs::temp_directory_path() / "rocegen-cache";
}

/// SHA-256 over named pieces of text.
class Fingerprint {
 public:
  Fingerprint() : context_(EVP_MD_CTX_new()) { EVP_DigestInit_ex(context_, EVP_sha256(), nullptr); }
  ~Fingerprint() { EVP_MD_CTX_free(context_); }
  Fingerprint(const Fingerprint&) = delete;
  Fingerprint& operator=(const Fingerprint&) = delete;

  void add(const std::string& name, const std::string& content) {
    const std::string head = fmt::format("{}:{}:", name, content.size());
    EVP_DigestUpdate(context_, head.data(), head.size());
    EVP_DigestUpdate(context_, content.data(), content.size());
  }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes = {};
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_, bytes.data(), &size);
    std::string out;
    for (unsigned int i = 0; i < 16; ++i) out += fmt::format("{:02x}", bytes[i]);
    return out;
  }

 private:
  EVP_MD_CTX* context_;
};

std::string output_of(const std::string& command) {
  std::string out;
  if (FILE* pipe = ::popen(command.c_str(), "r")) {
    std::array<char, 256> buffer = {};
    while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr) out += buffer.data();
    ::pclose(pipe);
  }
  return out;
}

/// The harness library: built with the program, beside it.
std::optional<fs::path> find_harness(spec::Diagnostics& diagnostics) {
  std::error_code ec;
  const fs::path program = fs::read_symlink("/proc/self/exe", ec);
  for (const fs::path& place :
       {program.parent_path() / "sim" / "librocegen_sim.a", program.parent_path() / "librocegen_sim.a",
        program.parent_path().parent_path() / "lib" / "librocegen_sim.a"})
    if (fs::exists(place, ec)) return place;
  diagnostics.error("E0512", {}, "the simulation library librocegen_sim.a is not beside the program")
      .help("build the project with cmake first");
  return std::nullopt;
}

void prune(const fs::path& folder) {
  std::error_code ec;
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  for (const auto& entry : fs::directory_iterator(folder, ec))
    if (entry.is_directory()) entries.emplace_back(fs::last_write_time(entry.path(), ec), entry.path());
  if (entries.size() <= kKeep) return;
  std::sort(entries.begin(), entries.end());
  for (std::size_t i = 0; i + kKeep < entries.size(); ++i) fs::remove_all(entries[i].second, ec);
}

/// Two runs must not build the same entry at once.
class Lock {
 public:
  explicit Lock(const fs::path& path) : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (fd_ >= 0) ::flock(fd_, LOCK_EX);
  }
  ~Lock() {
    if (fd_ >= 0) ::close(fd_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int fd_;
};

}  // namespace

std::optional<fs::path> build_model(const Variant& variant, const ModelOptions& options,
                                    spec::Diagnostics& diagnostics) {
  for (const char* program : {"verilator", "make", "g++"})
    if (!require_program(program, diagnostics)) return std::nullopt;
  const std::optional<fs::path> home = find_home(diagnostics);
  const std::optional<fs::path> harness = find_harness(diagnostics);
  if (!home || !harness) return std::nullopt;

  const spec::StackSpec& s = variant.stack.spec;
  const std::string& top = variant.stack.design.top().name;
  // Verilator 5.006 can invert a term of an XOR tree twice (its issues 4832, 4857): that optimisation is off.
  std::vector<std::string> argv = {"verilator",  "--cc",         "--exe",
                                   "--build",    "-j",           "2",
                                   "-Wall",      "--assert",     "-fno-const-bit-op-tree",
                                   "--x-assign", "unique",       "--x-initial",
                                   "unique",     "-O3",          "--prefix",
                                   "Vdut",       "--top-module", top};
  if (options.trace) argv.emplace_back("--trace-fst");
  if (options.coverage) argv.emplace_back("--coverage-line");
  const std::string defines = fmt::format(
      "-std=c++20 -I{} -DDUT_NAME='\"{}\"' -DDUT_DATA_BYTES={} -DDUT_MAC_BYTES={} -DDUT_HAS_MAC_CLK={} -DDUT_TRACE={} "
      "-DDUT_COVERAGE={}",
      fs::absolute(*home).string(), top, s.bytes_per_beat(), s.mac_bytes_per_beat(), s.has_mac_clock() ? 1 : 0,
      options.trace ? 1 : 0, options.coverage ? 1 : 0);

  // The names of the AXI masters as the adapter pastes them into those of the pins.
  std::string targets = "#define DUT_TARGETS(X)";
  for (std::size_t t = 0; t < s.host.targets.size(); ++t)
    targets += fmt::format(" X({}, {})", t, s.host.targets.size() == 1 ? "" : s.host.targets[t] + "_");

  Fingerprint print;
  print.add("verilator", output_of("verilator --version"));
  for (const std::string& word : argv) print.add("argument", word);
  print.add("defines", defines);
  print.add("targets", targets);
  for (const outputs::Source& source : outputs::list_sources(variant.stack))
    print.add(source.path, read_log(variant.folder / source.path));
  print.add("assert", read_log(variant.folder / "rtl" / "rocegen_assert.svh"));
  print.add("harness", read_log(*harness));
  for (const char* file : {"dut_adapter.cpp", "dut_adapter.h", "sim_main.cpp"})
    print.add(file, read_log(*home / "sim" / "dut" / file));
  const std::string key = s.name + "-" + print.hex();

  const fs::path folder = cache_folder() / "sim";
  const fs::path entry = folder / key;
  std::error_code ec;
  fs::create_directories(folder, ec);
  if (ec) {
    diagnostics.error("E0502", spec::file_place(folder.string()), "cannot make the cache folder: " + ec.message())
        .help("set ROCEGEN_CACHE to a folder that can be written");
    return std::nullopt;
  }
  Lock lock(folder / (key + ".lock"));
  if (fs::exists(entry / "sim", ec)) {
    fs::last_write_time(entry, fs::file_time_type::clock::now(), ec);
    return entry / "sim";
  }

  const fs::path scratch = folder / (key + ".build");
  fs::remove_all(scratch, ec);
  fs::create_directories(scratch, ec);
  if (!spec::write_text_file((scratch / "dut_targets.h").string(), targets + "\n", diagnostics)) return std::nullopt;
  argv.insert(argv.end(),
              {"-Mdir", scratch.string(), "-f", "filelist.f", "-MAKEFLAGS", "OPT_FAST=-O2 OPT_SLOW=-O1", "-CFLAGS",
               defines, "-LDFLAGS", fs::absolute(*harness).string() + " -lfmt -lcrypto", "-o", "sim"});
  for (const char* file : {"sim_main.cpp", "dut_adapter.cpp"})
    argv.push_back(fs::absolute(*home / "sim" / "dut" / file).string());
  ToolCommand command{"verilator " + s.name, argv, variant.folder, folder / (key + ".log"), {}};
  spec::Diagnostics probe;
  if (require_program("ccache", probe))
    command.environment = {
        {"OBJCACHE", "ccache"}, {"CCACHE_DEPEND", "1"}, {"CCACHE_BASEDIR", fs::absolute(folder).string()}};
  const auto results = run_tools({command}, 1, diagnostics);
  if (results[0].exit_code != 0) {
    fs::remove_all(scratch, ec);
    return std::nullopt;
  }
  const fs::path ready = folder / (key + ".ready");
  fs::remove_all(ready, ec);
  fs::create_directories(ready, ec);
  fs::rename(scratch / "sim", ready / "sim", ec);
  if (!ec) fs::rename(ready, entry, ec);
  fs::remove_all(scratch, ec);
  if (!fs::exists(entry / "sim")) {
    diagnostics.error("E0502", spec::file_place(entry.string()), "cannot keep the simulator")
        .help("free some space or set ROCEGEN_CACHE");
    return std::nullopt;
  }
  prune(folder);
  return entry / "sim";
}

}  // namespace rocegen::cli

// What rocegen gen writes: same bytes for the same spec, in place as a whole or not at all, and fit for its readers.
#include "generator/outputs/outputs.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "generator/stack/stack.h"

namespace fs = std::filesystem;
using namespace rocegen;

namespace {

const fs::path kRoot = ROCEGEN_SOURCE_DIR;

spec::StackSpec load(const std::string& name) {
  spec::Diagnostics diagnostics;
  auto spec = spec::read_spec((kRoot / "specs" / (name + ".json")).string(), diagnostics);
  REQUIRE(spec.has_value());
  return *spec;
}

stack::Stack build(const spec::StackSpec& spec) {
  spec::Diagnostics diagnostics;
  auto stack = stack::build(spec, {.templates = kRoot / "templates", .dump_after = {}}, diagnostics);
  INFO(spec::render(diagnostics));
  REQUIRE(stack.has_value());
  CHECK(diagnostics.empty());
  return std::move(*stack);
}

outputs::FileSet make(const stack::Stack& stack) {
  spec::Diagnostics diagnostics;
  outputs::FileSet files = outputs::make_outputs(stack, kRoot / "templates", diagnostics);
  INFO(spec::render(diagnostics));
  CHECK_FALSE(diagnostics.has_errors());
  return files;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A folder that is gone at the end of the test.
struct TempFolder {
  fs::path path;
  TempFolder() {
    std::string pattern = (fs::temp_directory_path() / "rocegen-test-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~TempFolder() {
    std::error_code ec;
    fs::remove_all(path, ec);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
};

/// Names of everything in a folder, hidden entries too.
std::set<std::string> entries(const fs::path& folder) {
  std::set<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder)) out.insert(entry.path().filename().string());
  return out;
}

}  // namespace

TEST_CASE("the same specification gives the same bytes") {
  for (const char* name : {"nic_10g", "nic_100g"}) {
    CAPTURE(name);
    const outputs::FileSet a = make(build(load(name)));
    const outputs::FileSet b = make(build(load(name)));
    REQUIRE(a.files().size() == b.files().size());
    for (std::size_t i = 0; i < a.files().size(); ++i) {
      CHECK(a.files()[i].first == b.files()[i].first);
      CHECK(a.files()[i].second == b.files()[i].second);
    }
  }
}

TEST_CASE("no output holds a path of this machine or a date") {
  const outputs::FileSet files = make(build(load("nic_10g")));
  for (const auto& [name, content] : files.files()) {
    CAPTURE(name);
    CHECK(content.find(kRoot.string()) == std::string::npos);
    CHECK(content.find(fs::temp_directory_path().string() + "/") == std::string::npos);
  }
}

TEST_CASE("every source of the filelist is written, once, and nothing else is in rtl/") {
  for (const char* name : {"nic_10g", "nic_25g", "nic_100g", "nic_200g"}) {
    CAPTURE(name);
    const stack::Stack stack = build(load(name));
    const outputs::FileSet files = make(stack);
    std::set<std::string> listed;
    for (const outputs::Source& source : outputs::list_sources(stack)) {
      CHECK(listed.insert(source.path).second);
      CHECK(files.find(source.path) != nullptr);
    }
    for (const auto& [path, content] : files.files())
      if (path.starts_with("rtl/") && path.ends_with(".sv")) CHECK(listed.contains(path));
  }
}

TEST_CASE("the manifest tells the variant, its ports, registers and counters") {
  const spec::StackSpec spec = load("nic_100g");
  const stack::Stack stack = build(spec);
  const outputs::FileSet files = make(stack);
  const auto manifest = nlohmann::json::parse(*files.find("manifest.json"));
  CHECK(manifest["name"] == "nic_100g");
  CHECK(manifest["spec_sha256"] == spec::spec_hash(spec));
  CHECK(manifest["spec"]["qp_count"] == 512);
  std::set<unsigned> addresses;
  for (const auto& reg : manifest["registers"]) CHECK(addresses.insert(reg["address"].get<unsigned>()).second);
  for (const auto& counter : manifest["counters"]) CHECK(addresses.insert(counter["address"].get<unsigned>()).second);
  CHECK(manifest["counters"].size() > 20);
  const std::string& top = *files.find("rtl/nic_100g.sv");
  for (const auto& port : manifest["ports"]) CHECK(top.find(port["name"].get<std::string>()) != std::string::npos);
}

TEST_CASE("counter names are unique across the whole stack") {
  std::set<std::string> names;
  for (const outputs::Counter& counter : build(load("nic_10g")).registers.counters)
    CHECK(names.insert(counter.name).second);
}

TEST_CASE("fields of a register do not overlap and fit into 32 bits") {
  for (const outputs::Register& reg : build(load("nic_10g")).registers.registers) {
    std::uint64_t taken = 0;
    for (const outputs::Field& field : reg.fields) {
      CAPTURE(reg.name);
      CAPTURE(field.name);
      CHECK(field.width >= 1);
      CHECK(field.lsb + field.width <= 32);
      const std::uint64_t mask = ((std::uint64_t{1} << field.width) - 1) << field.lsb;
      CHECK((taken & mask) == 0);
      taken |= mask;
      if (field.width < 32) CHECK(field.reset < (std::uint64_t{1} << field.width));
    }
  }
}

TEST_CASE("docs/registers.md is what the program writes") {
  const std::string text = outputs::registers_markdown(build(load("nic_100g")).registers, false);
  if (std::getenv("ROCEGEN_UPDATE") != nullptr) std::ofstream(kRoot / "docs/registers.md", std::ios::binary) << text;
  CHECK(read(kRoot / "docs/registers.md") == text);
}

TEST_CASE("replace_folder puts everything in place, or leaves the old output whole") {
  TempFolder temp;
  const fs::path target = temp.path / "nic";
  outputs::FileSet first;
  first.add("manifest.json", "{}");
  first.add("rtl/a.sv", "one");
  first.add("rtl/b.sv", "one");
  spec::Diagnostics diagnostics;
  REQUIRE(outputs::replace_folder(target, first, {}, diagnostics));
  CHECK(read(target / "rtl/a.sv") == "one");

  SUBCASE("a second run replaces all, and old files do not stay") {
    outputs::FileSet second;
    second.add("manifest.json", "{}");
    second.add("rtl/a.sv", "two");
    REQUIRE(outputs::replace_folder(target, second, {}, diagnostics));
    CHECK(read(target / "rtl/a.sv") == "two");
    CHECK_FALSE(fs::exists(target / "rtl/b.sv"));
    CHECK(entries(temp.path) == std::set<std::string>{"nic"});
  }
  SUBCASE("kept entries move over") {
    fs::create_directories(target / "synth");
    std::ofstream(target / "synth/report.txt") << "kept";
    REQUIRE(outputs::replace_folder(target, first, {"synth"}, diagnostics));
    CHECK(read(target / "synth/report.txt") == "kept");
  }
  SUBCASE("a file that cannot be written") {
    outputs::FileSet bad;
    bad.add("manifest.json", "{}");
    bad.add("rtl", "a file where a folder is needed");
    bad.add("rtl/a.sv", "two");
    CHECK_FALSE(outputs::replace_folder(target, bad, {}, diagnostics));
    REQUIRE(diagnostics.error_count() == 1);
    CHECK(diagnostics.all()[0].code == "E0502");
    CHECK(read(target / "rtl/a.sv") == "one");
    CHECK(entries(temp.path) == std::set<std::string>{"nic"});
  }
  SUBCASE("a folder of somebody else's is not touched") {
    const fs::path papers = temp.path / "papers";
    fs::create_directories(papers);
    std::ofstream(papers / "thesis.tex") << "x";
    CHECK_FALSE(outputs::replace_folder(papers, first, {}, diagnostics));
    REQUIRE(diagnostics.error_count() == 1);
    CHECK(diagnostics.all()[0].code == "E0501");
    CHECK(entries(papers) == std::set<std::string>{"thesis.tex"});
  }
  SUBCASE("the target is a file") {
    std::ofstream(temp.path / "file") << "x";
    CHECK_FALSE(outputs::replace_folder(temp.path / "file", first, {}, diagnostics));
    CHECK(diagnostics.all()[0].code == "E0502");
  }
  SUBCASE("a killed run leaves the old output, and the next run cleans up") {
    // Enough to write that the kill comes in between; whenever it comes, the folder must be one of the two, whole.
    outputs::FileSet big;
    big.add("manifest.json", "{}");
    for (int i = 0; i < 2000; ++i) big.add("rtl/f" + std::to_string(i) + ".sv", "two");
    for (int delay_us : {0, 500, 2000, 8000, 20000}) {
      const pid_t child = ::fork();
      if (child == 0) {
        spec::Diagnostics own;
        outputs::replace_folder(target, big, {}, own);
        ::_exit(0);
      }
      ::usleep(static_cast<useconds_t>(delay_us));
      ::kill(child, SIGKILL);
      int status = 0;
      ::waitpid(child, &status, 0);
      const std::size_t count = entries(target / "rtl").size();
      const bool whole = count == 2 || count == 2000;
      CHECK(whole);
    }
    REQUIRE(outputs::replace_folder(target, first, {}, diagnostics));
    CHECK(entries(temp.path) == std::set<std::string>{"nic"});
    CHECK(entries(target / "rtl").size() == 2);
  }
}

TEST_CASE("the Vivado script runs in tclsh against stubs that know Vivado's commands and options") {
  if (std::system("command -v tclsh >/dev/null 2>&1") != 0) {
    MESSAGE("skipped: tclsh is not installed");
    return;
  }
  for (const char* mode : {"non_project", "project"}) {
    CAPTURE(mode);
    spec::StackSpec spec = load("nic_10g");
    spec.target.vivado.mode = mode;
    spec.network.mac_clock_mhz = 322.265625;  // so that there is a crossing to constrain
    const outputs::FileSet files = make(build(spec));
    TempFolder temp;
    spec::Diagnostics diagnostics;
    REQUIRE(outputs::replace_folder(temp.path / "nic", files, {}, diagnostics));
    const auto run = [&](const fs::path& script) {
      return std::system(("tclsh " + (kRoot / "tests/vivado_stubs.tcl").string() + " " + script.string() + " >" +
                          (temp.path / "log").string() + " 2>&1")
                             .c_str());
    };
    const int status = run(temp.path / "nic/vivado/create_project.tcl");
    INFO(read(temp.path / "log"));
    CHECK(status == 0);
    for (const char* xdc : {"clocks", "cdc"})
      CHECK(run(temp.path / "nic/vivado" / (std::string("nic_10g_") + xdc + ".xdc")) == 0);
    // The stubs must be able to say no.
    const std::string script = read(temp.path / "nic/vivado/create_project.tcl");
    std::ofstream(temp.path / "nic/vivado/bad.tcl") << script << "report_timing_sumary -file x\n";
    CHECK(run(temp.path / "nic/vivado/bad.tcl") != 0);
    std::ofstream(temp.path / "nic/vivado/bad.tcl") << script << "synth_design -topp x\n";
    CHECK(run(temp.path / "nic/vivado/bad.tcl") != 0);
  }
}

// The program as its user sees it: exit codes and what goes to which stream.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "generator/cli/catalogue.h"
#include "generator/cli/run.h"
#include "generator/spec/schema.h"
#include "tests/unit/spec/brief.h"

using namespace rocegen;
using spec::test::slurp;
using spec::test::TemporaryFolder;

namespace {

const std::string kSource = ROCEGEN_SOURCE_DIR;

// Sends a file descriptor to a file while it lives.
class Redirect {
 public:
  Redirect(int fd, const std::string& path, int flags) : fd_(fd), saved_(::dup(fd)) {
    flush();
    const int file = ::open(path.c_str(), flags, 0600);
    REQUIRE(file >= 0);
    ::dup2(file, fd_);
    ::close(file);
  }
  Redirect(const Redirect&) = delete;
  Redirect& operator=(const Redirect&) = delete;
  ~Redirect() {
    flush();
    ::dup2(saved_, fd_);
    ::close(saved_);
  }

 private:
  static void flush() {
    std::fflush(stdout);
    std::fflush(stderr);
  }
  int fd_;
  int saved_;
};

struct Result {
  int exit_code;
  std::string out;
  std::string err;
};

// Runs the program; `stdout_to` instead of a file that is read back, `input` on the standard input.
Result run(std::vector<std::string> arguments, const std::string& input = "", const std::string& stdout_to = "") {
  const TemporaryFolder folder;
  const std::string out = stdout_to.empty() ? (folder.path / "out").string() : stdout_to;
  const std::string err = (folder.path / "err").string();
  const std::string in = folder.file("in", input);
  std::vector<const char*> argv = {"rocegen"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  Result result{};
  {
    const Redirect to_in(STDIN_FILENO, in, O_RDONLY);
    const Redirect to_out(STDOUT_FILENO, out, O_WRONLY | O_CREAT);
    const Redirect to_err(STDERR_FILENO, err, O_WRONLY | O_CREAT);
    result.exit_code = cli::run(static_cast<int>(argv.size()), argv.data());
  }
  if (stdout_to.empty()) result.out = slurp(out);
  result.err = slurp(err);
  return result;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("version and help") {
  const Result version = run({"--version"});
  CHECK(version.exit_code == 0);
  CHECK(version.out == "rocegen " ROCEGEN_VERSION "\n");
  const Result help = run({"--help"});
  CHECK(help.exit_code == 0);
  CHECK(help.err.empty());
  for (const std::string command : {"check", "schema", "compile", "model", "explain"}) {
    CHECK(contains(help.out, command));
    const Result own = run({command, "--help"});
    CHECK(own.exit_code == 0);
    CHECK(contains(own.out, "rocegen " + command));  // usage and examples
    CHECK(contains(own.out, "Examples:"));
  }
}

TEST_CASE("wrong usage ends with 2 and says how to go on") {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"chek", "x"},
                                                    {"--none"},
                                                    {"check"},
                                                    {"check", "--none", "x"},
                                                    {"schema", "-o"},
                                                    {"explain", "E0201", "E0202"},
                                                    {"explain", "E9999"},
                                                    {""}}) {
    const Result result = run(arguments);
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    CHECK_FALSE(result.err.empty());
  }
  CHECK(contains(run({"chek", "x"}).err, "`check`"));
  CHECK(contains(run({"explain", "E0288"}).err, "E0208"));
  CHECK_FALSE(contains(run({"\033[2J"}).err, "\033"));
}

TEST_CASE("check sums up what is good") {
  const Result result = run({"check", kSource + "/specs/nic_10g.json", kSource + "/specs/nic_100g.json"});
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(contains(result.out, "64 bit at 156.25 MHz = 10 Gb/s"));
  CHECK(contains(result.out, "512 bit at 250 MHz = 128 Gb/s"));
}

TEST_CASE("check --json prints the completed spec") {
  const Result result = run({"check", "--json", kSource + "/specs/nic_10g.json"});
  CHECK(result.exit_code == 0);
  spec::Diagnostics diagnostics;
  const auto spec = spec::read_spec(kSource + "/specs/nic_10g.json", diagnostics);
  REQUIRE(spec);
  CHECK(result.out == spec::to_json(*spec).dump(2) + "\n");
  // It is a spec itself, here from the standard input.
  const Result again = run({"check", "--json", "-"}, result.out);
  CHECK(again.exit_code == 0);
  CHECK(again.out == result.out);
}

TEST_CASE("check reports all faults of all files and ends with 1") {
  const TemporaryFolder folder;
  const std::string bad = folder.file("bad.json", "{\"name\": \"n\", \"mtu\": 1500}");
  const Result result = run({"check", bad, (folder.path / "none.json").string(), kSource + "/specs/nic_10g.json", "-"},
                            "{\"name\": \"n\" \"mtu\": 1024}");
  CHECK(result.exit_code == 1);
  CHECK(contains(result.err, bad + ":1:22: error[E0205]"));
  CHECK(contains(result.err, "none.json: error[E0101]"));
  CHECK(contains(result.err, "<stdin>:1:13: error[E0111]"));
  CHECK(contains(result.out, "nic_10g.json: good"));  // the good one is still summed up
  CHECK(contains(result.err, "3 errors in 4 files"));
}

TEST_CASE("a warning does not fail") {
  const Result result = run({"check", "-"}, R"({"name": "n", "transport": {"wqe_slots": 16}})");
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "warning[W0201]"));
}

TEST_CASE("schema writes to standard output or to a file") {
  const std::string expected = spec::json_schema().dump(2) + "\n";
  CHECK(run({"schema"}).out == expected);
  CHECK(run({"schema", "--markdown"}).out == spec::reference_markdown());
  const TemporaryFolder folder;
  const std::string path = (folder.path / "schema.json").string();
  const Result result = run({"schema", "-o", path});
  CHECK(result.exit_code == 0);
  CHECK(result.out.empty());
  CHECK(slurp(path) == expected);
  const Result refused = run({"schema", "-o", (folder.path / "none" / "schema.json").string()});
  CHECK(refused.exit_code == 1);
  CHECK(contains(refused.err, "error[E0107]"));
}

TEST_CASE("a full disk is noticed") {
  if (::access("/dev/full", W_OK) != 0) return;
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"schema"},
                                                    {"explain"},
                                                    {"explain", "E0201"},
                                                    {"check", kSource + "/specs/nic_10g.json"}}) {
    const Result result = run(arguments, "", "/dev/full");
    CHECK(result.exit_code == 1);
    CHECK(contains(result.err, "error[E0107]"));
  }
}

TEST_CASE("compile writes the module and says what it costs") {
  const TemporaryFolder folder;
  const std::string out = (folder.path / "dot").string();
  const Result good = run({"compile", kSource + "/specs/graphs/dot_product.json", "-o", out});
  CHECK(good.exit_code == 0);
  CHECK(good.err.empty());
  CHECK(contains(good.out, "dot_product: latency "));
  CHECK(contains(good.out, " register bits, about "));
  CHECK(contains(slurp(out + "/dot_product.sv"), "module dot_product ("));
  const std::string bad = (folder.path / "bad.json").string();
  std::ofstream(bad) << "{\"name\": \"g\", \"inputs\": {\"x\": \"u8\"},\n \"outputs\": {\"y\": [\"ad\", \"x\", 1]}}";
  const Result fault = run({"compile", bad, "-o", out});
  CHECK(fault.exit_code == 1);
  CHECK(fault.out.empty());
  CHECK(contains(fault.err, "bad.json:2:20: error[E0404]"));
  CHECK(contains(fault.err, "did you mean \"add\"?"));
}

TEST_CASE("explain lists the codes and explains each") {
  const Result list = run({"explain"});
  CHECK(list.exit_code == 0);
  std::set<std::string> seen;
  std::string last;
  for (const spec::CodeInfo& info : cli::catalogue()) {
    const std::string code = info.code;
    CAPTURE(code);
    CHECK(code.size() == 5);
    CHECK(seen.insert(code).second);  // no two folders share one
    CHECK(last < code);
    last = code;
    CHECK(contains(list.out, code + "  " + info.title));
    CHECK(cli::find_code(code) == &info);
    const Result one = run({"explain", code});
    CHECK(one.exit_code == 0);
    CHECK(contains(one.out, code + ": " + info.title));
    CHECK(contains(one.out, "For example:"));
    CHECK(contains(one.out, "Fix:"));
  }
  CHECK(seen.size() >= 30);
  CHECK(run({"explain", "e0201"}).out == run({"explain", "E0201"}).out);
}

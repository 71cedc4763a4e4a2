#include "generator/cli/tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace rocegen::cli {

namespace {

using Clock = std::chrono::steady_clock;

struct Running {
  std::size_t index = 0;
  pid_t pid = 0;
  Clock::time_point start;
};

volatile std::sig_atomic_t g_interrupted = 0;

void on_signal(int signal_number) { g_interrupted = signal_number; }

/// Takes interrupts while tools run, so that they can be ended with us.
class SignalGuard {
 public:
  SignalGuard() {
    struct sigaction action = {};
    action.sa_handler = on_signal;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &old_[i]);
  }
  ~SignalGuard() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &old_[i], nullptr);
    if (g_interrupted != 0) std::raise(static_cast<int>(g_interrupted));
  }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, 3> old_ = {};
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string quote(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::strchr("_-+=./:,@%", c) != nullptr;
  });
  if (plain) return word;
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Starts a command in a process group of its own; `log_fd` -1 leaves its output where ours goes. -1 with errno on
/// failure.
pid_t start(const ToolCommand& command, int log_fd) {
  // The child reports a failed exec through this pipe, which a successful one closes.
  std::array<int, 2> report = {};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) return -1;
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (log_fd >= 0) {
      ::setpgid(0, 0);
      ::dup2(log_fd, STDOUT_FILENO);
      ::dup2(log_fd, STDERR_FILENO);
    }
    for (const auto& [name, value] : command.environment) ::setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> argv;
    for (const std::string& word : command.argv) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    if (command.folder.empty() || ::chdir(command.folder.c_str()) == 0) ::execvp(argv[0], argv.data());
    const int fault = errno;
    const ssize_t ignored = ::write(report[1], &fault, sizeof fault);
    static_cast<void>(ignored);
    ::_exit(127);
  }
  ::close(report[1]);
  int fault = 0;
  if (pid > 0 && ::read(report[0], &fault, sizeof fault) == static_cast<ssize_t>(sizeof fault)) {
    ::waitpid(pid, nullptr, 0);
    ::close(report[0]);
    errno = fault;
    return -1;
  }
  ::close(report[0]);
  return pid;
}

int exit_code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

/// The end of a log, which is where tools say what was wrong.
std::vector<std::string> last_lines(const std::string& text, std::size_t count) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) lines.push_back(line.substr(0, 400));
  if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
  return lines;
}

void report_failure(const ToolCommand& command, int code, spec::Diagnostics& diagnostics) {
  auto& d = diagnostics.error(
      "E0511", spec::file_place(command.log.string()),
      code > 128 ? fmt::format("{} was ended by signal {} ({})", command.what, code - 128, strsignal(code - 128))
                 : fmt::format("{} failed with exit code {}", command.what, code));
  for (const std::string& line : last_lines(read_log(command.log), 12)) d.note(line);
  d.help("repeat it with: " + shell_line(command));
}

}  // namespace

std::string package_of(const std::string& program) {
  static constexpr std::array<std::pair<const char*, const char*>, 9> kPackages = {
      {{"dot", "graphviz"},
       {"gnuplot", "gnuplot-nox"},
       {"verilator", "verilator"},
       {"yosys", "yosys"},
       {"yosys-abc", "berkeley-abc or yosys-abc"},
       {"tshark", "tshark"},
       {"ccache", "ccache"},
       {"make", "make"},
       {"g++", "g++"}}};
  for (const auto& [name, package] : kPackages)
    if (program == name) return package;
  return program;
}

bool require_program(const std::string& program, spec::Diagnostics& diagnostics) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  diagnostics.error("E0510", {}, fmt::format("the program {} is not installed", program))
      .help(fmt::format("apt-get install {}", package_of(program)));
  return false;
}

std::string read_log(const std::filesystem::path& log) {
  std::ifstream in(log, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string shell_line(const ToolCommand& command) {
  std::string out;
  if (!command.folder.empty()) out += "cd " + quote(command.folder.string()) + " && ";
  for (const auto& [name, value] : command.environment) out += name + "=" + quote(value) + " ";
  for (std::size_t i = 0; i < command.argv.size(); ++i) out += (i == 0 ? "" : " ") + quote(command.argv[i]);
  return out;
}

std::vector<ToolResult> run_tools(const std::vector<ToolCommand>& commands, int jobs, spec::Diagnostics& diagnostics) {
  std::vector<ToolResult> results(commands.size());
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  SignalGuard guard;
  std::vector<Running> running;
  std::size_t next = 0;
  std::size_t finished = 0;
  Clock::time_point drawn = Clock::now() - std::chrono::seconds(1);

  const auto finish = [&](std::size_t index, int code, double seconds) {
    results[index] = {code, seconds};
    ++finished;
    if (terminal) fmt::print(stderr, "\r\033[K");
    fmt::print(stderr, "[{}/{}] {}{} {:.1f} s\n", finished, commands.size(), commands[index].what,
               code == 0 ? "" : ": FAILED,", seconds);
    if (code != 0 && g_interrupted == 0) report_failure(commands[index], code, diagnostics);
  };

  while ((next < commands.size() && g_interrupted == 0) || !running.empty()) {
    while (next < commands.size() && g_interrupted == 0 &&
           running.size() < static_cast<std::size_t>(std::max(jobs, 1))) {
      const ToolCommand& command = commands[next];
      std::error_code ec;
      std::filesystem::create_directories(command.log.parent_path(), ec);
      const int log = ::open(command.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
      const pid_t pid = log < 0 ? -1 : start(command, log);
      const int fault = errno;
      if (log >= 0) ::close(log);
      if (pid < 0) {
        results[next] = {127, 0};
        ++finished;
        if (log < 0)
          diagnostics.error("E0502", spec::file_place(command.log.string()),
                            std::string("cannot write: ") + std::strerror(fault));
        else
          diagnostics
              .error("E0511", {}, fmt::format("{} could not be started: {}", command.argv[0], std::strerror(fault)))
              .help(fmt::format("apt-get install {}", package_of(command.argv[0])));
      } else {
        running.push_back({next, pid, Clock::now()});
      }
      ++next;
    }
    if (g_interrupted != 0)
      for (const Running& r : running) ::kill(-r.pid, SIGTERM);
    for (std::size_t i = 0; i < running.size();) {
      int status = 0;
      if (::waitpid(running[i].pid, &status, WNOHANG) == running[i].pid) {
        finish(running[i].index, exit_code_of(status), seconds_since(running[i].start));
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    if (terminal && !running.empty() && seconds_since(drawn) > 0.5) {
      std::string line = fmt::format("[{}/{}]", finished, commands.size());
      for (const Running& r : running)
        line += fmt::format(" {} {:.0f} s ", commands[r.index].what, seconds_since(r.start));
      fmt::print(stderr, "\r\033[K{}", line.substr(0, 118));
      std::fflush(stderr);
      drawn = Clock::now();
    }
    if (!running.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (g_interrupted != 0) fmt::print(stderr, "interrupted\n");
  return results;
}

ToolResult run_attached(const ToolCommand& command, spec::Diagnostics& diagnostics) {
  std::fflush(stdout);
  std::fflush(stderr);
  const Clock::time_point begin = Clock::now();
  const pid_t pid = start(command, -1);
  if (pid < 0) {
    diagnostics.error("E0511", {}, fmt::format("{} could not be started: {}", command.argv[0], std::strerror(errno)));
    return {127, 0};
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return {exit_code_of(status), seconds_since(begin)};
}

}  // namespace rocegen::cli

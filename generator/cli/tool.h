// Running other programs: progress while they run, their own words when they fail, and the command to repeat it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "generator/spec/diagnostic.h"

namespace rocegen::cli {

/// One program to run.
struct ToolCommand {
  std::string what;                                              ///< for the progress line: "yosys rx_frontend"
  std::vector<std::string> argv;                                 ///< program and arguments
  std::filesystem::path folder;                                  ///< working folder
  std::filesystem::path log;                                     ///< takes standard output and standard error
  std::vector<std::pair<std::string, std::string>> environment;  ///< set in addition
};

struct ToolResult {
  int exit_code = 0;  ///< 127: could not be started; 128 + n: ended by signal n
  double seconds = 0;
};

/// Debian package that has a program ("verilator" -> "verilator", "dot" -> "graphviz"); the program's name if unknown.
std::string package_of(const std::string& program);

/// True when `program` is found on PATH; else a diagnostic E0510 that names the package is reported.
bool require_program(const std::string& program, spec::Diagnostics& diagnostics);

/// The whole text of a log; empty when it cannot be read.
std::string read_log(const std::filesystem::path& log);

/// The command as one line to paste into a shell, with its folder.
std::string shell_line(const ToolCommand& command);

/// Runs the commands, at most `jobs` at once. Progress goes to standard error: one line that is rewritten on a
/// terminal, plain lines ("[3/12] yosys rx_frontend ... 14.2 s") elsewhere. A command that ends with another code than
/// 0 is a diagnostic E0511 with the last lines of its log, the log's path and the command to repeat it; the others
/// still run. When the program itself is interrupted its children are ended too.
std::vector<ToolResult> run_tools(const std::vector<ToolCommand>& commands, int jobs, spec::Diagnostics& diagnostics);

/// run_tools for one command whose output (standard output and error) goes to the terminal as it comes; no progress
/// line.
ToolResult run_attached(const ToolCommand& command, spec::Diagnostics& diagnostics);

}  // namespace rocegen::cli

// The subcommands of rocegen, one file each. To add one: write generator/cli/<name>.cpp with add_<name>, declare it
// here and name it in the table of commands.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace rocegen::cli {

// Exit codes of the program.
inline constexpr int kDone = 0;
inline constexpr int kBadInput = 1;     ///< the user's input is wrong; diagnostics say what
inline constexpr int kUsage = 2;        ///< the command line is wrong
inline constexpr int kInternal = 3;     ///< a bug in rocegen
inline constexpr int kCheckFailed = 4;  ///< the input is good, but a check (lint, simulation, ...) failed

// Each adds its subcommand to `app`; the subcommand's callback stores how it ended in `exit_code`.
void add_check(CLI::App& app, int& exit_code);
void add_schema(CLI::App& app, int& exit_code);
void add_gen(CLI::App& app, int& exit_code);
void add_lint(CLI::App& app, int& exit_code);
void add_synth(CLI::App& app, int& exit_code);
void add_sim(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_compile(CLI::App& app, int& exit_code);
void add_model(CLI::App& app, int& exit_code);
void add_new_service(CLI::App& app, int& exit_code);
void add_preprocess(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);

/// Adds all subcommands.
void add_commands(CLI::App& app, int& exit_code);

/// "usage example" lines under a subcommand's help, indented as the rest of it.
std::string examples(std::initializer_list<const char*> lines);

}  // namespace rocegen::cli

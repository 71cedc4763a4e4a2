// The whole program, for main.cpp and the tests.
#pragma once

namespace rocegen::cli {

/// Reads the command line, runs the subcommand, returns the exit code (see commands.h). Never throws.
int run(int argc, const char* const* argv) noexcept;

}  // namespace rocegen::cli

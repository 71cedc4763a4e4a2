#include "generator/cli/run.h"

int main(int argc, char** argv) { return rocegen::cli::run(argc, argv); }

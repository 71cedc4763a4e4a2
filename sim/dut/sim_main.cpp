// The simulator of one variant: the harness library linked with the Verilated top.
#include "sim/dut/dut_adapter.h"
#include "sim/harness/cli.h"

int main(int argc, char** argv) { return rocegen::sim::run_cli(argc, argv, rocegen::sim::make_dut); }

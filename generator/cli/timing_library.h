// Timing models of the cells that synth_xilinx maps to, for the `sta` command of Yosys.
//
// Two libraries: one counts LUT levels exactly (LUT = 1000, all else about 0), the other gives an illustrative delay: a
// flat estimate of cell and wire, not vendor data. Good for comparing modules, not for signing off.
#pragma once

#include <string>

namespace rocegen::cli {

/// Delays in ps.
struct CellDelays {
  int lut = 0;         ///< through a LUT and the wire behind it
  int mux = 0;         ///< through a MUXF7..9
  int carry_in = 0;    ///< into a carry chain and out of it
  int carry_step = 0;  ///< from carry-in to carry-out of one CARRY cell
  int clock_to_q = 0;  ///< of a flip-flop, with the wire
  int setup = 0;       ///< of a flip-flop's D
  int control = 0;     ///< setup of enables, resets, addresses and data of memories
  int block_ram = 0;   ///< clock to output of block RAM and URAM, with the wire
  int lut_ram = 0;     ///< clock to output of shift registers and distributed RAM
};

/// Counts LUT levels: the path's delay divided by 1000 is the number of LUTs on it.
inline constexpr CellDelays level_delays = {1000, 1, 1, 0, 0, 0, 0, 0, 0};
/// Illustrative UltraScale+ figures.
inline constexpr CellDelays estimate_delays = {450, 90, 250, 40, 350, 25, 300, 950, 700};

/// The library as Verilog with specify blocks. `yosys_cells` is the text of Yosys's xilinx/cells_sim.v and
/// cells_xtra.v, from which the ports and parameters of the cells are taken.
std::string timing_library(const CellDelays& delays, const std::string& yosys_cells);

}  // namespace rocegen::cli

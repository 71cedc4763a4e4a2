// The parameters of pre_stage that a layout gives, and pre_stage alone, for benches and for `rocegen preprocess`.
#pragma once

#include <string>

#include "generator/netlist/ir.h"
#include "generator/services/preprocess/rows.h"

namespace rocegen::preprocess {

/// RowsLatency, SpanLatency, Phases, PhaseStep, PhaseW, Unit, RotateStages.
netlist::Params stage_params(const Geometry& geometry, const RowModules& rows, int rotate_stages);

/// Module pre_bench: pre_stage with these parameters and its ports. Its bit of the mask is 2.
std::string bench_top(const netlist::Params& params, int data_width, int qp_count);

}  // namespace rocegen::preprocess

// LUT6 levels of single operators as Yosys 0.23 builds them (`synth -flatten -lut 6; ltp -noff`). Operator::arrival is
// fitted to these; a unit test holds it to within one level, tests/rtl/dataflow_synth.cpp measures them again.
#pragma once

#include <array>
#include <string_view>

namespace rocegen::dataflow {

struct MeasuredDelay {
  std::string_view op;  ///< as in tests/unit/dataflow/delay_samples.h
  int width;
  int levels;
};

inline constexpr std::array<MeasuredDelay, 108> kMeasuredDelays = {{
    {"add", 4, 2},         {"add", 8, 3},         {"add", 16, 4},        {"add", 32, 5},       {"add", 64, 6},
    {"sub", 4, 2},         {"sub", 8, 3},         {"sub", 16, 4},        {"sub", 32, 5},       {"sub", 64, 6},
    {"sum4", 4, 3},        {"sum4", 8, 4},        {"sum4", 16, 6},       {"sum4", 32, 6},      {"sum4", 64, 8},
    {"mul", 4, 2},         {"mul", 8, 4},         {"mul", 16, 8},        {"mul_const", 4, 1},  {"mul_const", 8, 3},
    {"mul_const", 16, 6},  {"mul_const", 32, 7},  {"mul_const", 64, 8},  {"popcount", 4, 1},   {"popcount", 8, 2},
    {"popcount", 16, 4},   {"popcount", 32, 6},   {"popcount", 64, 7},   {"and8", 4, 2},       {"and8", 8, 2},
    {"and8", 16, 2},       {"and8", 32, 2},       {"and8", 64, 2},       {"xor8", 4, 2},       {"xor8", 8, 2},
    {"xor8", 16, 2},       {"xor8", 32, 2},       {"xor8", 64, 2},       {"or_reduce", 4, 1},  {"or_reduce", 8, 2},
    {"or_reduce", 16, 2},  {"or_reduce", 32, 3},  {"or_reduce", 64, 3},  {"xor_reduce", 4, 1}, {"xor_reduce", 8, 2},
    {"xor_reduce", 16, 2}, {"xor_reduce", 32, 2}, {"xor_reduce", 64, 3}, {"eq", 4, 2},         {"eq", 8, 2},
    {"eq", 16, 3},         {"eq", 32, 3},         {"eq", 64, 4},         {"ult", 4, 2},        {"ult", 8, 2},
    {"ult", 16, 3},        {"ult", 32, 4},        {"ult", 64, 5},        {"slt", 4, 2},        {"slt", 8, 2},
    {"slt", 16, 3},        {"slt", 32, 4},        {"slt", 64, 5},        {"umin", 4, 2},       {"umin", 8, 3},
    {"umin", 16, 3},       {"umin", 32, 4},       {"umin", 64, 5},       {"smax", 4, 2},       {"smax", 8, 3},
    {"smax", 16, 3},       {"smax", 32, 4},       {"smax", 64, 5},       {"abs", 4, 1},        {"abs", 8, 2},
    {"abs", 16, 2},        {"abs", 32, 3},        {"abs", 64, 4},        {"saturate", 4, 1},   {"saturate", 8, 1},
    {"saturate", 16, 2},   {"saturate", 32, 2},   {"saturate", 64, 3},   {"select", 4, 1},     {"select", 8, 1},
    {"select", 16, 1},     {"select", 32, 1},     {"select", 64, 1},     {"mux8", 4, 2},       {"mux8", 8, 2},
    {"mux8", 16, 2},       {"mux8", 32, 2},       {"mux8", 64, 2},       {"table8", 4, 2},     {"table8", 8, 2},
    {"table8", 16, 2},     {"table8", 32, 2},     {"table8", 64, 2},     {"shl", 4, 1},        {"shl", 8, 2},
    {"shl", 16, 2},        {"shl", 32, 3},        {"shl", 64, 3},        {"sar", 4, 1},        {"sar", 8, 2},
    {"sar", 16, 2},        {"sar", 32, 3},        {"sar", 64, 3},
}};

}  // namespace rocegen::dataflow

#include <doctest/doctest.h>

#include <cstdlib>

#include "generator/dataflow/delay_table.h"
#include "generator/dataflow/schedule.h"
#include "tests/unit/dataflow/delay_samples.h"

using namespace rocegen::dataflow;

TEST_CASE("delays: the model is within a level of what Yosys was measured to build") {
  Options options;
  options.combinational = true;
  std::size_t rows = 0;
  for (const auto op : sample::kDelayOperators) {
    for (const auto& measured : kMeasuredDelays) {
      if (measured.op != op) continue;
      ++rows;
      CAPTURE(op);
      CAPTURE(measured.width);
      const Schedule s = schedule(sample::delay_graph(op, measured.width), options);
      CHECK(std::abs(s.levels() - measured.levels) <= 1);
    }
  }
  CHECK(rows == kMeasuredDelays.size());
}

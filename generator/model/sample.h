// Samples of a model: what tests and checks feed it with, and how its module takes them.
#pragma once

#include <random>
#include <span>
#include <string>
#include <vector>

#include "generator/dataflow/bitvec.h"
#include "generator/model/model.h"

namespace rocegen::model {

/// Random values at the corners of the model's tests, or anywhere; features are bits[i] wide. With `missing`, some are.
class Sampler {
 public:
  Sampler(const Model& model, std::span<const int> bits, bool missing, std::uint64_t seed);
  Sample next();

 private:
  std::vector<std::vector<std::uint64_t>> corners_;  ///< by feature
  std::vector<int> bits_;
  bool missing_;
  std::mt19937_64 rng_;
};

/// The operands of model_graph: x_i, and missing_i if `missing`.
std::vector<dataflow::BitVec> operands(const Model& model, std::span<const int> bits, bool missing,
                                       const Sample& sample);
/// The sample that they are.
Sample sample_of(const Model& model, std::span<const int> bits, bool missing,
                 std::span<const dataflow::BitVec> operands);

}  // namespace rocegen::model

#include "generator/model/sample.h"

#include <algorithm>

namespace rocegen::model {

namespace {

using dataflow::BitVec;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

Sampler::Sampler(const Model& model, std::span<const int> bits, bool missing, std::uint64_t seed)
    : corners_(model.features.size()), bits_(bits.begin(), bits.end()), missing_(missing), rng_(seed) {
  for (const Tree& tree : model.forest.trees) {
    for (const Node& node : tree.nodes) {
      if (node.leaf) continue;
      auto& corners = corners_[at(node.feature)];
      for (const std::uint64_t bound : {node.low, node.high}) {
        corners.push_back(bound);
        if (bound > 0) corners.push_back(bound - 1);
      }
      corners.insert(corners.end(), node.categories.begin(), node.categories.end());
    }
  }
}

Sample Sampler::next() {
  Sample sample(corners_.size());
  const auto kind = rng_() % 8;  // of the whole sample: all zero, all ones, sparse, dense, or mixed
  const auto often = rng_() % 100;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const std::uint64_t mask = (std::uint64_t{1} << bits_[i]) - 1;
    std::uint64_t value = rng_() & mask;
    if (!corners_[i].empty() && rng_() % 4 != 0) value = corners_[i][rng_() % corners_[i].size()] & mask;
    if (kind == 0) value = 0;
    if (kind == 1) value = mask;
    if (kind <= 4 && rng_() % 100 < often) value = kind == 3 ? mask : 0;
    sample[i] = value;
    if (missing_ && rng_() % 4 == 0) sample[i] = std::nullopt;
  }
  return sample;
}

std::vector<BitVec> operands(const Model& model, std::span<const int> bits, bool missing, const Sample& sample) {
  int total = 0;
  int used = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    if (!model.features[i].used) continue;
    total += bits[i];
    ++used;
  }
  if (used == 0) return {};
  BitVec x(total);
  BitVec absent(used);
  int low = 0;
  int index = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    if (!model.features[i].used) continue;
    if (sample[i]) {
      x.insert(low, BitVec(bits[i], *sample[i]));
    } else {
      absent.set_bit(index, true);
    }
    low += bits[i];
    ++index;
  }
  if (missing) return {x, absent};
  return {x};
}

Sample sample_of(const Model& model, std::span<const int> bits, bool missing, std::span<const BitVec> operands) {
  Sample sample(model.features.size());
  int low = 0;
  int index = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    sample[i] = 0;
    if (!model.features[i].used) continue;
    sample[i] = operands[0].slice(low + bits[i] - 1, low).to_uint64();
    if (missing && operands[1].bit(index)) sample[i] = std::nullopt;
    low += bits[i];
    ++index;
  }
  return sample;
}

}  // namespace rocegen::model

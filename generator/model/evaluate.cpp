#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "generator/model/model.h"

namespace rocegen::model {

namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

Wide power(int exponent) { return Wide{1} << exponent; }

/// floor(a / 2^n).
Wide floor_shift(Wide a, int n) { return n > 126 ? (a < 0 ? -1 : 0) : a >> n; }

Wide round_shift(Wide a, int n, Rounding rounding) {
  const Wide low = floor_shift(a, n);
  if (n == 0 || n > 126) return low;
  const Wide rest = a - (low << n);
  const Wide half = power(n - 1);
  switch (rounding) {
    case Rounding::floor:
      return low;
    case Rounding::half_up:
      return rest >= half ? low + 1 : low;
    case Rounding::half_even:
      return rest > half || (rest == half && (low & 1) != 0) ? low + 1 : low;
  }
  throw std::logic_error("no such rounding");
}

Wide fit(Wide value, const Layer& layer) {
  const Wide least = layer.relu ? 0 : -power(layer.bits - 1);
  const Wide most = layer.relu ? power(layer.bits) - 1 : power(layer.bits - 1) - 1;
  if (layer.overflow == Overflow::saturate) return std::clamp(value, least, most);
  if (layer.relu && value < 0) return 0;
  const Wide modulus = power(layer.bits);
  Wide wrapped = value % modulus;
  if (wrapped < 0) wrapped += modulus;
  return wrapped > most ? wrapped - modulus : wrapped;
}

std::vector<Wide> network_scores(const Model& model, const Sample& sample) {
  std::vector<Wide> values;
  for (const auto& x : sample) values.push_back(static_cast<Wide>(x.value_or(0)));
  for (const Layer& layer : model.layers) {
    std::vector<Wide> next;
    for (int o = 0; o < layer.outputs(); ++o) {
      Wide sum = layer.bias[at(o)];
      for (int i = 0; i < layer.inputs(); ++i) sum += layer.weights[at(o)][at(i)] * values[at(i)];
      const int shift = layer.shift[at(o)];
      if (layer.linear) {
        next.push_back(sum * power(shift));
      } else {
        next.push_back(fit(shift >= 0 ? sum * power(shift) : round_shift(sum, -shift, layer.rounding), layer));
      }
    }
    values = next;
  }
  return values;
}

}  // namespace

Wide to_fixed(double value, int fraction_bits) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);  // value = mantissa * 2^exponent, 0.5 <= |mantissa| < 1
  const auto digits = static_cast<std::int64_t>(std::ldexp(mantissa, 53));
  const int shift = exponent - 53 + fraction_bits;
  return shift >= 0 ? Wide{digits} * power(shift) : round_shift(digits, -shift, Rounding::half_even);
}

Wide score_limit(const Forest& forest, int score) {
  const auto magnitude = [](Wide v) { return v < 0 ? -v : v; };
  Wide limit = magnitude(forest.base_fixed[at(score)]);
  for (const Tree& tree : forest.trees) {
    if (tree.score != score) continue;
    Wide most = 0;
    for (const Node& node : tree.nodes) {
      if (node.leaf) most = std::max(most, magnitude(node.fixed));
    }
    limit += most;
  }
  return limit;
}

bool fix_point(Model& model, std::optional<int> fraction_bits) {
  Forest& forest = model.forest;
  std::vector<double> values = forest.base;
  for (const Tree& tree : forest.trees) {
    for (const Node& node : tree.nodes) {
      if (node.leaf) values.push_back(node.value);
    }
  }
  // Bits behind the point that a value has, and the bits that the greatest sum may take before it.
  int exact = 0;
  double greatest = 1;
  for (const double value : values) {
    if (value == 0) continue;
    int exponent = 0;
    auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
    int last = exponent - 53;
    while (digits % 2 == 0) {
      digits /= 2;
      ++last;
    }
    exact = std::max(exact, -last);
    greatest = std::max(greatest, std::abs(value));
  }
  forest.fraction_bits = fraction_bits.value_or(exact);
  forest.exact = forest.fraction_bits >= exact;
  const int whole = std::ilogb(greatest) + 2 + std::ilogb(static_cast<double>(forest.trees.size() + 2)) + 1;
  if (forest.fraction_bits + whole > kMaxScoreBits) return false;
  forest.base_fixed.clear();
  for (const double value : forest.base) forest.base_fixed.push_back(to_fixed(value, forest.fraction_bits));
  for (Tree& tree : forest.trees) {
    for (Node& node : tree.nodes) {
      if (node.leaf) node.fixed = to_fixed(node.value, forest.fraction_bits);
    }
  }
  return true;
}

std::vector<Wide> fixed_thresholds(const Model& model) {
  std::vector<Wide> r;
  const int fraction = model.network() ? 0 : model.forest.fraction_bits;
  for (const double threshold : model.thresholds) {
    // s > t for whole s exactly if s > floor(t).
    const double limit = std::ldexp(1.0, kMaxScoreBits + 1 - fraction);
    const double clipped = std::clamp(threshold, -limit, limit);
    int exponent = 0;
    const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(clipped, &exponent), 53));
    const int shift = exponent - 53 + fraction;
    r.push_back(shift >= 0 ? Wide{digits} * power(shift) : floor_shift(digits, -shift));
  }
  return r;
}

int find_leaf(const Tree& tree, const Sample& sample) {
  int index = 0;
  while (!tree.nodes[at(index)].leaf) {
    const Node& node = tree.nodes[at(index)];
    const auto& x = sample[at(node.feature)];
    bool left = node.missing_left;
    if (x && node.categorical) {
      left = std::find(node.categories.begin(), node.categories.end(), *x) != node.categories.end();
      if (node.inverted) left = !left;
    } else if (x) {
      left = *x >= node.low && *x < node.high;
    }
    index = left ? node.left : node.right;
  }
  return index;
}

std::vector<Wide> scores(const Model& model, const Sample& sample) {
  if (sample.size() != model.features.size()) throw std::invalid_argument("a sample has a value for every feature");
  if (model.network()) return network_scores(model, sample);
  std::vector<Wide> sums = model.forest.base_fixed;
  for (const Tree& tree : model.forest.trees) sums[at(tree.score)] += tree.nodes[at(find_leaf(tree, sample))].fixed;
  return sums;
}

std::vector<double> float_scores(const Model& model, const Sample& sample) {
  const Forest& forest = model.forest;
  std::vector<double> sums = forest.base;
  for (const Tree& tree : forest.trees) {
    double& sum = sums[at(tree.score)];
    const double leaf = tree.nodes[at(find_leaf(tree, sample))].value;
    sum = forest.float32 ? static_cast<double>(static_cast<float>(sum) + static_cast<float>(leaf)) : sum + leaf;
  }
  return sums;
}

int decide(const Model& model, const Sample& sample) {
  const std::vector<Wide> sums = scores(model, sample);
  switch (model.decision) {
    case Decision::thresholds: {
      int passed = 0;
      for (const Wide threshold : fixed_thresholds(model)) passed += sums[0] > threshold ? 1 : 0;
      return passed;
    }
    case Decision::greatest:
      return static_cast<int>(std::max_element(sums.begin(), sums.end()) - sums.begin());
    case Decision::value:
      return static_cast<int>(sums[0]);
  }
  throw std::logic_error("no such decision");
}

}  // namespace rocegen::model

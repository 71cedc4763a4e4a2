#include "generator/model/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "generator/model/share.h"

namespace rocegen::model {

namespace {

using dataflow::BitVec;
using dataflow::Graph;
using dataflow::NodeId;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Bits of an unsigned number up to `most`, at least one.
int bits_of(Wide most) {
  int n = 1;
  while (n < 126 && most >> n != 0) ++n;
  return n;
}

BitVec vector_of(Wide value, int width) {
  const std::array<std::uint64_t, 2> words = {static_cast<std::uint64_t>(value),
                                              static_cast<std::uint64_t>(value >> 64)};
  return BitVec::from_words(std::max(width, 128), words).resize(width);
}

/// A number that is an unsigned node plus a constant: signs and constants cost nothing until a number is compared.
struct Number {
  NodeId node;
  Wide offset = 0;
};

/// A number that is still to be added up: bits by weight, and a constant.
struct Row {
  std::vector<std::vector<NodeId>> columns;
  Wide constant = 0;

  /// Greatest sum of the bits.
  Wide limit() const {
    Wide r = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) r += static_cast<Wide>(columns[i].size()) << i;
    return r;
  }
};

/// Where table look-ups end and arithmetic begins, in bits of the index.
constexpr int kTableBits = 8;

/// Common parts within common parts of the sums of a layer: one level has nearly all the gain.
constexpr int kSharedDepth = 1;

class Lowerer {
 public:
  Lowerer(Graph& graph, const Model& model, std::span<const Operand> features)
      : g_(graph), model_(model), features_(features) {}

  NodeId run() {
    const std::vector<Row> sums = model_.network() ? network() : forest();
    const int bits = class_bits(model_);
    switch (model_.decision) {
      case Decision::thresholds: {
        const std::vector<Wide> thresholds = fixed_thresholds(model_);
        if (thresholds.size() == 1) return exceeds(sums[0], thresholds[0]);
        const Number score = sum(sums[0]);
        std::vector<NodeId> passed;
        for (const Wide threshold : thresholds) passed.push_back(greater(score, threshold));
        return fit(g_.popcount(g_.from_bits(passed)), bits);
      }
      case Decision::greatest:
        return greatest(sums, bits);
      case Decision::value:
        return total(sums[0], bits);
    }
    throw std::logic_error("no such decision");
  }

 private:
  NodeId fit(NodeId a, int width) { return g_.width(a) >= width ? g_.slice(a, width - 1, 0) : g_.zext(a, width); }

  NodeId bit_constant(bool value) { return g_.constant(1, value ? 1 : 0); }
  Wide most(NodeId a) const { return (Wide{1} << g_.width(a)) - 1; }

  // ---- sums ----------------------------------------------------------------------------------------

  /// Adds +-number * 2^shift to a row.
  void add(Row& row, const Number& number, int shift, bool negative) {
    const int width = g_.width(number.node);
    if (row.columns.size() < at(shift + width)) row.columns.resize(at(shift + width));
    for (int i = 0; i < width; ++i) {
      const NodeId bit = g_.bit(number.node, i);
      row.columns[at(shift + i)].push_back(negative ? g_.not_(bit) : bit);
    }
    row.constant += (negative ? -number.offset - most(number.node) : number.offset) * (Wide{1} << shift);
  }

  Number sum(const Row& row) {
    if (row.limit() == 0) return {bit_constant(false), row.constant};
    return {dataflow::sum_columns(g_, row.columns, bits_of(row.limit())), row.constant};
  }

  /// The row with its constant, modulo 2^width.
  NodeId total(const Row& row, int width) {
    std::vector<std::vector<NodeId>> columns = row.columns;
    columns.resize(at(width));
    const BitVec constant = vector_of(row.constant, width);
    for (int i = 0; i < width; ++i) {
      if (constant.bit(i)) columns[at(i)].push_back(bit_constant(true));
    }
    return dataflow::sum_columns(g_, columns, width);
  }

  /// Width of a two's complement number that holds every value of a row.
  static int signed_bits(const Row& row) {
    const Wide most = row.limit() + row.constant;
    return std::max(bits_of(row.constant < 0 ? -row.constant - 1 : 0), bits_of(most < 0 ? 0 : most)) + 1;
  }

  /// row > limit.
  NodeId exceeds(Row row, Wide limit) {
    row.constant -= limit + 1;
    if (row.constant >= 0) return bit_constant(true);
    if (row.constant + row.limit() < 0) return bit_constant(false);
    const int width = signed_bits(row);
    return g_.not_(g_.bit(total(row, width), width - 1));
  }

  /// number > limit.
  NodeId greater(const Number& number, Wide limit) {
    const Wide bound = limit - number.offset;  // node > bound
    if (bound < 0) return bit_constant(true);
    if (bound >= most(number.node)) return bit_constant(false);
    return g_.ult(g_.constant(vector_of(bound, g_.width(number.node))), number.node);
  }

  NodeId greatest(const std::vector<Row>& sums, int bits) {
    int width = 2;
    for (const Row& row : sums) width = std::max(width, signed_bits(row));
    std::vector<std::pair<NodeId, NodeId>> left;  // score, class
    for (std::size_t i = 0; i < sums.size(); ++i) {
      left.emplace_back(total(sums[i], width), g_.constant(bits, i));
    }
    while (left.size() > 1) {
      std::vector<std::pair<NodeId, NodeId>> next;
      for (std::size_t i = 0; i + 1 < left.size(); i += 2) {
        const NodeId second = g_.slt(left[i].first, left[i + 1].first);
        next.emplace_back(g_.select(second, left[i + 1].first, left[i].first),
                          g_.select(second, left[i + 1].second, left[i].second));
      }
      if (left.size() % 2 != 0) next.push_back(left.back());
      left = std::move(next);
    }
    return left[0].second;
  }

  // ---- trees ---------------------------------------------------------------------------------------

  /// One bit: the sample goes left.
  NodeId test(const Node& node) {
    const Operand& x = features_[at(node.feature)];
    const NodeId left = node.categorical ? one_of(x.value, node) : in_range(x.value, node);
    if (!x.missing) return left;
    return node.missing_left ? g_.or_(*x.missing, left) : g_.and_(g_.not_(*x.missing), left);
  }

  NodeId below(NodeId x, std::uint64_t bound) {
    if (bound == 0) return bit_constant(false);
    if (static_cast<Wide>(bound) > most(x)) return bit_constant(true);
    return g_.ult(x, g_.constant(vector_of(static_cast<Wide>(bound), g_.width(x))));
  }

  NodeId in_range(NodeId x, const Node& node) {
    const NodeId high = below(x, node.high);
    return node.low == 0 ? high : g_.and_(high, g_.not_(below(x, node.low)));
  }

  NodeId one_of(NodeId x, const Node& node) {
    const int width = g_.width(x);
    NodeId found = bit_constant(false);
    if (width <= kTableBits) {
      std::vector<BitVec> entries(std::size_t{1} << static_cast<unsigned>(width), BitVec(1));
      for (const std::uint64_t category : node.categories) {
        if (category < entries.size()) entries[category] = BitVec(1, 1);
      }
      found = g_.table(x, entries);
    } else {
      std::vector<NodeId> equal;
      for (const std::uint64_t category : node.categories) {
        if (static_cast<Wide>(category) > most(x)) continue;
        equal.push_back(g_.eq(x, g_.constant(vector_of(static_cast<Wide>(category), width))));
      }
      if (!equal.empty()) found = g_.or_n(equal);
    }
    return node.inverted ? g_.not_(found) : found;
  }

  /// What a tree adds, less its smallest leaf.
  Number tree_value(const Tree& tree) {
    Wide least = 0;
    Wide greatest = 0;
    bool first = true;
    for (const Node& node : tree.nodes) {
      if (!node.leaf) continue;
      least = first ? node.fixed : std::min(least, node.fixed);
      greatest = first ? node.fixed : std::max(greatest, node.fixed);
      first = false;
    }
    const int width = bits_of(greatest - least);
    std::vector<NodeId> values(tree.nodes.size());
    for (std::size_t i = tree.nodes.size(); i-- > 0;) {  // children stand behind their parents
      const Node& node = tree.nodes[i];
      values[i] = node.leaf ? g_.constant(vector_of(node.fixed - least, width))
                            : g_.select(test(node), values[at(node.left)], values[at(node.right)]);
    }
    return {values[0], least};
  }

  std::vector<Row> forest() {
    std::vector<Row> sums(at(model_.scores));
    for (int i = 0; i < model_.scores; ++i) sums[at(i)].constant = model_.forest.base_fixed[at(i)];
    for (const Tree& tree : model_.forest.trees) add(sums[at(tree.score)], tree_value(tree), 0, false);
    return sums;
  }

  // ---- layers --------------------------------------------------------------------------------------

  std::vector<Row> network() {
    std::vector<Number> values;
    for (std::size_t i = 0; i < features_.size(); ++i) {
      Number x{features_[i].value, 0};
      if (!model_.features[i].used) x.node = bit_constant(false);
      if (model_.features[i].used && features_[i].missing) {  // a missing value counts as 0
        x.node = g_.and_(x.node, g_.replicate(g_.not_(*features_[i].missing), g_.width(x.node)));
      }
      values.push_back(x);
    }
    std::vector<Row> outputs;
    for (const Layer& layer : model_.layers) {
      const std::vector<Row> sums = dense(layer, values);
      values.clear();
      outputs.assign(sums.size(), {});
      for (int o = 0; o < layer.outputs(); ++o) {
        if (layer.linear) {
          outputs[at(o)] = shifted(sums[at(o)], layer.shift[at(o)]);
        } else {
          values.push_back(activate(layer, o, sums[at(o)]));
          add(outputs[at(o)], values.back(), 0, false);
        }
      }
    }
    return outputs;
  }

  /// A weight is a sum of signed powers of two, no two of them adjacent (Reitwiesner 1960).
  template <typename Visit>
  static void each_digit(std::int64_t weight, const Visit& visit) {
    for (int shift = 0; weight != 0; ++shift, weight /= 2) {
      if (weight % 2 == 0) continue;
      const bool negative = ((weight % 4) + 4) % 4 == 3;
      visit(shift, negative);
      weight += negative ? 1 : -1;
    }
  }

  static Row shifted(Row row, int shift) {
    row.columns.insert(row.columns.begin(), at(shift), {});
    row.constant *= Wide{1} << shift;
    return row;
  }

  /// The sums of a layer, before its activation.
  std::vector<Row> dense(const Layer& layer, const std::vector<Number>& inputs) {
    // A variable is an input times a power of two.
    std::map<std::pair<int, int>, int> index;
    std::vector<std::pair<int, int>> variables;
    std::vector<SignedSum> sums(layer.weights.size());
    for (int o = 0; o < layer.outputs(); ++o) {
      for (int i = 0; i < layer.inputs(); ++i) {
        each_digit(layer.weights[at(o)][at(i)], [&](int shift, bool negative) {
          const auto [it, fresh] = index.try_emplace({i, shift}, static_cast<int>(variables.size()));
          if (fresh) variables.emplace_back(i, shift);
          (negative ? sums[at(o)].minus : sums[at(o)].plus).insert(it->second);
        });
      }
    }
    std::vector<double> spans;
    for (const auto& [input, shift] : variables) spans.push_back(static_cast<double>(most(inputs[at(input)].node)));
    const SharedSums shared = share_sums(std::move(sums), spans, kSharedDepth);
    std::vector<std::optional<Number>> parts(shared.sums.size());
    std::vector<Row> outputs;
    for (int o = 0; o < layer.outputs(); ++o) {
      outputs.push_back(shared_row(shared, o, layer.outputs(), parts, inputs, variables));
      outputs.back().constant += layer.bias[at(o)];
    }
    return outputs;
  }

  /// Sum number `s`. Its common parts are ready late, so all else is added up before they join.
  Row shared_row(const SharedSums& shared, int s, int asked, std::vector<std::optional<Number>>& parts,
                 const std::vector<Number>& inputs, const std::vector<std::pair<int, int>>& variables) {
    Row row;
    Row late;
    for (const bool negative : {false, true}) {
      for (const int v : (negative ? shared.sums[at(s)].minus : shared.sums[at(s)].plus).members()) {
        if (v < shared.inputs) {
          const auto [input, shift] = variables[at(v)];
          add(row, inputs[at(input)], shift, negative);
          continue;
        }
        auto& part = parts[at(asked + v - shared.inputs)];
        if (!part) part = sum(shared_row(shared, asked + v - shared.inputs, asked, parts, inputs, variables));
        add(late, *part, 0, negative);
      }
    }
    if (late.columns.empty()) return row;
    row.columns.resize(std::max(late.columns.size(), at(bits_of(row.limit()))));
    dataflow::compress_columns(g_, row.columns, false);
    for (std::size_t i = 0; i < late.columns.size(); ++i) {
      row.columns[i].insert(row.columns[i].end(), late.columns[i].begin(), late.columns[i].end());
    }
    row.constant += late.constant;
    return row;
  }

  /// The layer's own rule for one sum, from the definition.
  static Wide activation(const Layer& layer, int output, Wide sum) {
    const int shift = layer.shift[at(output)];
    if (shift >= 0) return limited(layer, sum * (Wide{1} << shift));
    const int n = -shift;
    const Wide low = sum >> n;
    const Wide rest = sum - (low << n);
    const Wide half = Wide{1} << (n - 1);
    const bool up = (layer.rounding == Rounding::half_up && rest >= half) ||
                    (layer.rounding == Rounding::half_even && (rest > half || (rest == half && (low & 1) != 0)));
    return limited(layer, low + (up ? 1 : 0));
  }

  static Wide least_output(const Layer& layer) { return layer.relu ? 0 : -(Wide{1} << (layer.bits - 1)); }
  static Wide most_output(const Layer& layer) { return (Wide{1} << (layer.relu ? layer.bits : layer.bits - 1)) - 1; }
  static Wide limited(const Layer& layer, Wide value) {
    return std::clamp(value, least_output(layer), most_output(layer));
  }

  Number activate(const Layer& layer, int output, Row sum) {
    const int shift = layer.shift[at(output)];
    const Wide least_sum = sum.constant;
    const Wide most_sum = sum.constant + sum.limit();
    if (layer.overflow == Overflow::wrap) return arithmetic(layer, shift, sum);
    // The rule is monotonous: beyond two sums it stays what it is there.
    const auto first = [&](Wide wanted) {  // smallest sum whose output reaches `wanted`, or most_sum + 1
      Wide low = least_sum;
      Wide high = most_sum + 1;
      while (low < high) {
        const Wide middle = low + (high - low) / 2;
        if (activation(layer, output, middle) >= wanted) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      return low;
    };
    const Wide bottom = activation(layer, output, least_sum);
    const Wide top = activation(layer, output, most_sum);
    if (bottom == top) return {g_.constant(1, 0), bottom};
    const Wide start = first(bottom + 1) - 1;  // up to here: bottom
    const Wide end = first(top);               // from here on: top
    const int index_bits = bits_of(end - start);
    if (index_bits > kTableBits) return arithmetic(layer, shift, sum);
    std::vector<BitVec> entries;
    const int width = bits_of(top - bottom);
    for (Wide i = 0; i < Wide{1} << index_bits; ++i) {
      entries.push_back(vector_of(activation(layer, output, std::min(start + i, end)) - bottom, width));
    }
    // index = sum - start; negative: bottom, too large: top.
    sum.constant -= start;
    const int own = std::max(signed_bits(sum), index_bits + 1);
    const NodeId index = total(sum, own);
    const NodeId inside = g_.table(g_.slice(index, index_bits - 1, 0), entries);
    const NodeId negative = g_.bit(index, own - 1);
    if (own - 2 < index_bits) return {g_.and_(inside, g_.replicate(g_.not_(negative), width)), bottom};
    const NodeId large = g_.or_reduce(g_.slice(index, own - 2, index_bits));
    const NodeId limited = g_.select(large, g_.constant(vector_of(top - bottom, width)), inside);
    return {g_.and_(limited, g_.replicate(g_.not_(negative), width)), bottom};
  }

  /// Rounding and limits of wide outputs, on two's complement numbers.
  Number arithmetic(const Layer& layer, int shift, const Row& sum) {
    int width = signed_bits(sum) + 1 + std::max(shift, 0);
    NodeId value = g_.sext(total(sum, signed_bits(sum)), width);
    if (shift > 0) value = g_.shl(value, shift);
    if (shift < 0) value = rounded(layer, value, std::min(-shift, width - 1));
    width = std::max(g_.width(value), layer.bits + 2);
    value = g_.sext(value, width);
    NodeId result = layer.overflow == Overflow::saturate ? g_.saturate(value, true, layer.bits, !layer.relu)
                                                         : g_.slice(value, layer.bits - 1, 0);
    if (layer.relu) {
      const NodeId positive = g_.not_(g_.bit(value, width - 1));
      return {g_.and_(result, g_.replicate(positive, layer.bits)), 0};
    }
    BitVec sign(layer.bits);
    sign.set_bit(layer.bits - 1, true);
    return {g_.xor_(result, g_.constant(sign)), least_output(layer)};
  }

  NodeId rounded(const Layer& layer, NodeId value, int n) {
    const NodeId low = g_.sar(value, n);
    if (layer.rounding == Rounding::floor) return low;
    NodeId up = g_.bit(value, n - 1);  // the rest is a half or more
    if (layer.rounding == Rounding::half_even) {
      const NodeId odd = g_.bit(value, n);
      const NodeId more = n > 1 ? g_.or_(odd, g_.or_reduce(g_.slice(value, n - 2, 0))) : odd;
      up = g_.and_(up, more);
    }
    return g_.add(low, g_.zext(up, g_.width(low)));
  }

  Graph& g_;
  const Model& model_;
  std::span<const Operand> features_;
};

}  // namespace

int class_bits(const Model& model) { return bits_of(model.classes - 1); }

NodeId lower(Graph& graph, const Model& model, std::span<const Operand> features) {
  return Lowerer(graph, model, features).run();
}

Graph model_graph(const Model& model, std::string name, std::span<const int> bits, bool missing) {
  Graph graph(std::move(name), "decides for a class by a trained model.");
  int total = 0;
  int used = 0;
  for (std::size_t i = 0; i < model.features.size(); ++i) {
    if (!model.features[i].used) continue;
    total += bits[i];
    ++used;
  }
  std::vector<Operand> operands(model.features.size());
  if (used > 0) {
    const NodeId x = graph.input("x_i", total, "the features");
    std::optional<NodeId> absent;
    if (missing) absent = graph.input("missing_i", used, "which of them are missing");
    int low = 0;
    int index = 0;
    for (std::size_t i = 0; i < model.features.size(); ++i) {
      if (!model.features[i].used) continue;
      operands[i].value = graph.slice(x, low + bits[i] - 1, low);
      if (absent) operands[i].missing = graph.bit(*absent, index);
      low += bits[i];
      ++index;
    }
  }
  graph.output("class_o", lower(graph, model, operands), "the class");
  return graph;
}

}  // namespace rocegen::model

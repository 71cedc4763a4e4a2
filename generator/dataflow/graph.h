// Expression graph over fixed-width unsigned integers: what the dataflow compiler compiles.
//
// A graph is a list of nodes in topological order; equal nodes are one node (hash-consing), constant expressions are
// folded and trivial identities simplified while it is built. Signed meaning is in the operators, as in LLVM.
// Programming faults (wrong width, unknown node) throw std::invalid_argument with a sentence that names the operator.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "generator/dataflow/bitvec.h"
#include "generator/dataflow/operator.h"

namespace rocegen::dataflow {

/// Widest node, in bits.
inline constexpr int kMaxWidth = 4096;

struct Node {
  const Operator* op = nullptr;
  std::vector<NodeId> args;
  Attributes attrs;
  int width = 0;
};

/// A named input or output.
struct Port {
  std::string name;
  NodeId node;
  std::string doc;
};

class Graph {
 public:
  /// `name` becomes the module's name, `description` its one sentence of purpose (without the name).
  explicit Graph(std::string name, std::string description = "");

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  void rename(std::string name);

  // ---- inputs and outputs ----------------------------------------------------------------------
  /// An input port of 1..kMaxWidth bits; `name` is an identifier, unique among the ports.
  NodeId input(std::string name, int width, std::string doc = "");
  void output(std::string name, NodeId node, std::string doc = "");
  std::span<const Port> inputs() const { return inputs_; }
  std::span<const Port> outputs() const { return outputs_; }

  // ---- operators -------------------------------------------------------------------------------
  NodeId constant(const BitVec& value);
  NodeId constant(int width, std::uint64_t value) { return constant(BitVec(width, value)); }
  /// a + b, a - b modulo 2^width.
  NodeId add(NodeId a, NodeId b);
  NodeId sub(NodeId a, NodeId b);
  /// a + b + carry (one bit), one bit wider than a and b.
  NodeId add_carry(NodeId a, NodeId b, NodeId carry);
  /// a + b + c + ... modulo 2^width.
  NodeId sum(std::span<const NodeId> args);
  /// -a modulo 2^width.
  NodeId neg(NodeId a);
  /// a * factor modulo 2^width(a); factor as wide as a.
  NodeId mul(NodeId a, const BitVec& factor);
  /// a * b modulo 2^width.
  NodeId mul(NodeId a, NodeId b);
  /// Quotient and remainder of unsigned division by a constant as wide as a, not zero.
  NodeId udiv(NodeId a, const BitVec& divisor);
  NodeId urem(NodeId a, const BitVec& divisor);
  /// The smaller and the greater, unsigned and as two's complement numbers.
  NodeId umin(NodeId a, NodeId b);
  NodeId umax(NodeId a, NodeId b);
  NodeId smin(NodeId a, NodeId b);
  NodeId smax(NodeId a, NodeId b);
  /// Magnitude of a two's complement number, as unsigned number of the same width.
  NodeId abs(NodeId a);
  /// The nearest number of `width` bits.
  NodeId saturate(NodeId a, bool a_signed, int width, bool result_signed);
  NodeId and_n(std::span<const NodeId> args);
  NodeId or_n(std::span<const NodeId> args);
  NodeId xor_n(std::span<const NodeId> args);
  NodeId and_(NodeId a, NodeId b);
  NodeId or_(NodeId a, NodeId b);
  NodeId xor_(NodeId a, NodeId b);
  NodeId not_(NodeId a);
  /// Parity (or, and) of the bits of a that mask selects.
  NodeId xor_reduce(NodeId a, const BitVec& mask);
  NodeId or_reduce(NodeId a, const BitVec& mask);
  NodeId and_reduce(NodeId a, const BitVec& mask);
  NodeId xor_reduce(NodeId a);
  NodeId or_reduce(NodeId a);
  NodeId and_reduce(NodeId a);
  /// Comparisons, one bit wide: equal, not equal, less (or equal) unsigned, less (or equal) signed.
  NodeId eq(NodeId a, NodeId b);
  NodeId ne(NodeId a, NodeId b);
  NodeId ult(NodeId a, NodeId b);
  NodeId ule(NodeId a, NodeId b);
  NodeId slt(NodeId a, NodeId b);
  NodeId sle(NodeId a, NodeId b);
  /// condition (one bit) ? when_true : when_false.
  NodeId select(NodeId condition, NodeId when_true, NodeId when_false);
  /// choices[index]; exactly 2^width(index) choices.
  NodeId mux(NodeId index, std::span<const NodeId> choices);
  /// Shift by a constant; bits shifted out are lost; any amount >= 0.
  NodeId shl(NodeId a, int amount);
  NodeId shr(NodeId a, int amount);
  NodeId sar(NodeId a, int amount);
  /// Shift by amount * 2^scale, amount at most 16 bits wide.
  NodeId shl(NodeId a, NodeId amount, int scale = 0);
  NodeId shr(NodeId a, NodeId amount, int scale = 0);
  NodeId sar(NodeId a, NodeId amount, int scale = 0);
  /// Bits hi..lo.
  NodeId slice(NodeId a, int hi, int lo);
  NodeId bit(NodeId a, int index) { return slice(a, index, index); }
  /// parts[0] is the most significant, as in SystemVerilog.
  NodeId concat(std::span<const NodeId> parts);
  NodeId concat(NodeId high, NodeId low);
  /// {1-bit nodes}, bits[0] the least significant.
  NodeId from_bits(std::span<const NodeId> bits);
  NodeId zext(NodeId a, int width);
  NodeId sext(NodeId a, int width);
  /// `a` times: a one-bit node repeated to `width` bits.
  NodeId replicate(NodeId bit, int width) { return sext(bit, width); }
  /// Number of ones; log2_ceil(width + 1) bits wide.
  NodeId popcount(NodeId a);
  /// Table look-up: entries[index]; exactly 2^width(index) entries of equal width, index at most 12 bits.
  NodeId table(NodeId index, std::span<const BitVec> entries);

  /// Any operator. Validates, folds, simplifies and shares; all functions above come here.
  NodeId apply(const Operator& op, std::span<const NodeId> args, Attributes attrs = {});

  /// A name for the node's signal in the written module; made unique when it clashes. It may not end in `_q`.
  void label(NodeId id, std::string text);
  std::string_view label(NodeId id) const;

  // ---- reading ---------------------------------------------------------------------------------
  const Node& node(NodeId id) const;
  int width(NodeId id) const { return node(id).width; }
  int size() const { return static_cast<int>(nodes_.size()); }
  /// The value when the node is a constant, else nullptr.
  const BitVec* constant_value(NodeId id) const;
  /// For every node, whether an output depends on it (inputs included).
  std::vector<bool> live() const;

 private:
  NodeId insert(const Operator& op, std::span<const NodeId> args, Attributes attrs, int width);

  std::string name_;
  std::string description_;
  std::vector<Node> nodes_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  std::unordered_multimap<std::size_t, int> by_hash_;
  std::map<int, std::string> labels_;
};

/// True when `text` is a legal SystemVerilog identifier and no keyword that a port or signal could be mistaken for.
bool is_identifier(std::string_view text);

/// Adds columns of one-bit nodes (column i has weight 2^i) to a number of `width` bits modulo 2^width: carry-save
/// compression by 6:3 and 3:2 counters, one LUT level a round, then one adder.
NodeId sum_columns(Graph& graph, std::vector<std::vector<NodeId>> columns, int width);

/// One round set of carry-save compression until no column holds more than `height` bits. With `wrap`, carries out of
/// the last column re-enter at column 0 (one's complement arithmetic); else they are dropped.
void compress_columns(Graph& graph, std::vector<std::vector<NodeId>>& columns, bool wrap, std::size_t height = 2);

}  // namespace rocegen::dataflow

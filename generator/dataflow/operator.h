// What an operator of the expression graph is. A new operator is one class and one line in the table of operators.cpp
// (arithmetic: operators_arithmetic.cpp).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/dataflow/arrival.h"
#include "generator/dataflow/bitvec.h"
#include "generator/dataflow/range.h"

namespace rocegen::dataflow {

class Graph;

/// A node of a graph, by index.
struct NodeId {
  int index = -1;
  friend auto operator<=>(const NodeId&, const NodeId&) = default;
};

/// What an operator needs beside its arguments. The meaning of both fields is the operator's.
struct Attributes {
  std::vector<int> numbers;
  BitVec bits;
  friend bool operator==(const Attributes&, const Attributes&) = default;
};

/// An argument as the SystemVerilog writer presents it to Operator::expression. Every text is a primary: it needs no
/// parentheses. The writer notes which bits are read.
class Operand {
 public:
  virtual ~Operand() = default;
  virtual int width() const = 0;
  /// The whole value.
  virtual std::string text() const = 0;
  /// Bits hi..lo.
  virtual std::string bits(int hi, int lo) const = 0;
};

/// Services of the writer to Operator::expression.
class TextContext {
 public:
  virtual ~TextContext() = default;
  /// Text of a constant: a literal, or the name of a localparam when it is wide.
  virtual std::string constant(const BitVec& value) = 0;
  /// Name of a function that counts the ones of `width` bits, 2 to 6, written so that each bit of its result is a LUT6.
  virtual std::string counter(int width) = 0;
  /// Name of an array `logic [width-1:0] name [0:entries-1]` that holds `flat` (entry 0 in the low bits).
  virtual std::string rom(const BitVec& flat, int width) = 0;
};

/// One kind of node. Implementations are stateless and live in the table of operators.cpp.
class Operator {
 public:
  virtual ~Operator() = default;

  /// Unique lower-case name, e.g. "xor_reduce".
  virtual std::string_view name() const = 0;

  /// Width of the result in bits. Throws std::invalid_argument with a full sentence when the arguments or attributes
  /// are not acceptable.
  virtual int result_width(std::span<const int> widths, const Attributes& attrs) const = 0;

  /// The value. The arguments have passed result_width.
  virtual BitVec evaluate(std::span<const BitVec> args, const Attributes& attrs) const = 0;

  /// When the result is ready if every argument is ready as told, written as one expression. An upper bound of what
  /// `synth -lut 6` of Yosys 0.23 builds.
  virtual Arrival arrival(std::span<const Arrival> args, std::span<const int> widths,
                          const Attributes& attrs) const = 0;

  /// SystemVerilog expression to stand alone on the right of an assignment to a signal of the result width; clean
  /// under `verilator -Wall` and within what Yosys 0.23 reads.
  virtual std::string expression(TextContext& context, std::span<const Operand* const> args,
                                 const Attributes& attrs) const = 0;

  /// What is known of the result when that much is known of the arguments; by default nothing.
  virtual Range range(std::span<const Range> args, int width, const Attributes& attrs) const;

  /// LUTs that Yosys `synth_xilinx -nowidelut` makes of it, about; by default none.
  virtual int luts(std::span<const int> widths, const Attributes& attrs) const;

  /// The low `width` bits of the result, computed from the low bits of the arguments, where that is cheaper.
  virtual std::optional<NodeId> low_bits(Graph& graph, std::span<const NodeId> args, const Attributes& attrs,
                                         int width) const;

  /// Only names bits anew: costs no logic.
  virtual bool wiring() const { return false; }
  /// Arguments may be reordered.
  virtual bool commutative() const { return false; }

  /// A simpler node with the same value, if there is one. Constant arguments alone are folded by the graph.
  virtual std::optional<NodeId> simplify(Graph& graph, std::span<const NodeId> args, const Attributes& attrs) const;

  /// The same value built of nodes that take at most `budget` levels each when their arguments are registers, mostly
  /// one level, so that the scheduler can cut between them.
  virtual NodeId expand(Graph& graph, std::span<const NodeId> args, const Attributes& attrs, int budget) const;
};

/// All operators, in a fixed order.
std::span<const Operator* const> operators();
/// The operator of that name; throws std::invalid_argument when there is none.
const Operator& find_operator(std::string_view name);

/// Frequently needed members of the table.
namespace ops {
const Operator& input();
const Operator& constant();
const Operator& slice();
const Operator& xor_n();
const Operator& or_n();
const Operator& and_n();
const Operator& xor_reduce();
const Operator& or_reduce();
const Operator& and_reduce();
}  // namespace ops

}  // namespace rocegen::dataflow

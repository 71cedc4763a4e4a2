// Rows of recommender data: their columns, what is done to each, and what becomes of a row. docs/services-preprocess.md
// describes the entry in the specification.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/dataflow/typed.h"
#include "generator/spec/diagnostic.h"

namespace rocegen::preprocess {

/// Most 32-bit words of a row.
inline constexpr int kMaxRowWords = 1024;
/// Most borders of one bucketize.
inline constexpr int kMaxBorders = 256;

enum class ColumnKind { label, dense, sparse, pad };
std::string_view to_string(ColumnKind kind);

enum class Operator {
  fill_null,    ///< numbers: null, value
  neg2zero,     ///< none
  clamp,        ///< low, high
  log,          ///< c: ln(x + c), float32
  modulus,      ///< m: of the word as an unsigned number
  sigrid_hash,  ///< salt (64 bits), max
  bucketize,    ///< borders, ascending, rounded down to whole numbers
  shift,        ///< n: x * 2^n, saturated, or floor(x / 2^-n)
  scale,        ///< multiply, shift: (x * multiply) / 2^shift, rounded, saturated to `type`
  float32,      ///< none: a whole number as float32
  bfloat16      ///< none: a float32 as bfloat16
};
std::string_view to_string(Operator op);

/// One operator with its numbers.
struct Operation {
  Operator op{};
  std::vector<std::int64_t> numbers;
  dataflow::Type type;  ///< of scale
  friend bool operator==(const Operation&, const Operation&) = default;
};

/// A column of a row.
struct Column {
  ColumnKind kind{};
  int number = 1;                     ///< among those of its kind, from 1
  std::vector<Operation> operations;  ///< in the order in which they are applied
  int bytes = 4;                      ///< that it takes in the output: 0 (left out), 1, 2, 4

  /// "dense 3".
  std::string name() const;
};

/// What an entry of `services` says.
struct Layout {
  std::vector<Column> columns;  ///< a 32-bit word each, little-endian, in the order of the row
  std::vector<int> output;      ///< indices of columns in the order of the output

  int row_words() const { return static_cast<int>(columns.size()); }
  /// Bytes of the output of a row.
  int row_bytes() const;
  /// Bytes of output that are known when the first `words` (0..row_words) words of a row are: of the columns in front
  /// of the first one in the output that is not among them.
  int bytes_after(int words) const;
  /// Bytes of output of a message of `bytes` bytes. Of a row that it does not complete, bytes_after; bytes of a word
  /// that it does not complete count for nothing.
  std::uint64_t length(std::uint64_t bytes) const;
};

/// Where a value of the entry stands, by its pointer within the entry ("/columns/0").
using Where = std::function<spec::Place(std::string_view)>;

/// Reads the layout out of an entry. Faults are diagnostics E0540 to E0548; then nothing is returned.
std::optional<Layout> read_layout(const nlohmann::ordered_json& entry, const Where& where,
                                  spec::Diagnostics& diagnostics);

/// Whether a beat of `lanes` words never needs a word of another beat: a column may move within its group of
/// gcd(lanes, words of a row) words only. A fault is E0549.
bool check_order(const Layout& layout, int lanes, const Where& where, spec::Diagnostics& diagnostics);

}  // namespace rocegen::preprocess

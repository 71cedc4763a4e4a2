// What a preprocess service makes of rows, straight from the entry in the specification: a plain evaluation in C++ that
// shares nothing with the generator. Logarithms are those of libm in double precision, rounded once; the hash is
// written from folly's and TorchArrow's source (docs/services-preprocess.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace rocegen::sim {

/// hash128to64(salt, twang_mix64(x)) modulo max as a signed number; the hash itself if max < 1.
std::int64_t sigrid_hash(std::int64_t x, std::int64_t salt, std::int64_t max);

class RowModel {
 public:
  /// An entry {"columns": ..., "operators": ..., "output": ...} that the generator has accepted.
  explicit RowModel(const nlohmann::ordered_json& entry);

  struct Column {
    std::string kind;
    int number = 0;
    nlohmann::ordered_json operators = nlohmann::ordered_json::array();
    int bytes = 4;  ///< of the output, where it is part of it
  };
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::size_t>& output() const { return output_; }

  /// What a word of a column becomes, at the bottom of 32 bits. Of a logarithm `ulps` units in the last place more.
  std::uint32_t value(std::size_t column, std::uint32_t word, int ulps = 0) const;
  /// Whether `found` is right for that word: a logarithm may be 1 ulp from the correctly rounded one.
  bool accepts(std::size_t column, std::uint32_t word, std::uint32_t found) const;

  /// Bytes that come out of a message of so many bytes.
  std::size_t length(std::size_t bytes) const;
  /// The output of a message. `bytes` begins with the first row.
  std::vector<std::uint8_t> run(std::span<const std::uint8_t> bytes) const;
  /// Whether `found` is right for the message. Of the first fault: its place in `found`, else its size.
  bool accepts(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> found, std::size_t* where) const;

 private:
  template <typename Visit>
  void each(std::size_t bytes, Visit&& visit) const;

  std::vector<Column> columns_;
  std::vector<std::size_t> output_;
};

}  // namespace rocegen::sim

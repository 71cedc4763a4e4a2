#include "generator/services/preprocess/table.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "generator/spec/text.h"

namespace rocegen::preprocess {

namespace {

std::vector<std::string> split(std::string_view line, char separator) {
  std::vector<std::string> cells;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(separator, at), line.size());
    std::string_view cell = line.substr(at, end - at);
    while (!cell.empty() && (cell.front() == ' ' || cell.front() == '"')) cell.remove_prefix(1);
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '"')) cell.remove_suffix(1);
    cells.emplace_back(cell);
    at = end + 1;
  }
  return cells;
}

template <typename T, typename... Args>
std::optional<T> parse(std::string_view text, Args... args) {
  T value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value, args...);
  if (text.empty() || fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The word of a cell; nothing if it is none.
std::optional<std::uint32_t> word_of(const Column& column, std::string_view cell) {
  if (cell.empty()) {
    if (column.operations.empty() || column.operations[0].op != Operator::fill_null) return std::nullopt;
    return static_cast<std::uint32_t>(column.operations[0].numbers[0]);
  }
  if (column.kind == ColumnKind::sparse) return parse<std::uint32_t>(cell, 16);
  // Files of numbers often write them with a fraction: "260.0".
  const auto number = parse<double>(cell);
  const bool is_signed = column.kind == ColumnKind::dense;
  const double low = is_signed ? std::numeric_limits<std::int32_t>::min() : 0;
  const double high = is_signed ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::uint32_t>::max();
  if (!number || *number != std::floor(*number) || *number < low || *number > high) return std::nullopt;
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(*number));
}

/// Whether a line names columns: no decimal number in it, and something that is no hexadecimal one either.
bool is_header(const std::vector<std::string>& cells) {
  bool name = false;
  for (const std::string& cell : cells) {
    if (parse<double>(cell)) return false;
    name = name || (!cell.empty() && !parse<std::uint32_t>(cell, 16));
  }
  return name;
}

/// How the cells of a column are to be read.
enum class Shown { natural, integer, real, bfloat };

Shown shown_as(const Column& column) {
  Shown out = column.kind == ColumnKind::dense ? Shown::integer : Shown::natural;
  for (const Operation& o : column.operations) {
    switch (o.op) {
      case Operator::log:
      case Operator::float32:
        out = Shown::real;
        break;
      case Operator::bfloat16:
        out = Shown::bfloat;
        break;
      case Operator::scale:
        out = o.type.is_signed ? Shown::integer : Shown::natural;
        break;
      case Operator::modulus:
      case Operator::sigrid_hash:
      case Operator::bucketize:
        out = Shown::natural;
        break;
      default:
        break;
    }
  }
  return out;
}

std::string cell_of(Shown shown, std::uint32_t bits, int bytes) {
  switch (shown) {
    case Shown::real:
      return fmt::format("{:.9g}", std::bit_cast<float>(bits));
    case Shown::bfloat:
      return fmt::format("{:.9g}", std::bit_cast<float>(bits << 16));
    case Shown::integer:
      return fmt::format("{}", static_cast<std::int32_t>(bits << (32 - 8 * bytes)) >> (32 - 8 * bytes));
    case Shown::natural:
      break;
  }
  return fmt::format("{}", bits);
}

}  // namespace

std::optional<std::vector<std::uint32_t>> read_rows(const Layout& layout, const std::string& file,
                                                    const std::string& text, spec::Diagnostics& diagnostics) {
  std::size_t columns = 0;
  for (const Column& c : layout.columns) columns += c.kind != ColumnKind::pad ? 1 : 0;
  std::vector<std::uint32_t> words;
  const std::size_t before = diagnostics.error_count();
  const char separator = text.substr(0, text.find('\n')).find('\t') != std::string::npos ? '\t' : ',';
  int number = 0;
  for (std::size_t at = 0; at < text.size() && diagnostics.error_count() < before + 20;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    ++number;
    while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) continue;
    const auto cells = split(line, separator);
    if (number == 1 && is_header(cells)) continue;
    spec::Place place = spec::file_place(file);
    place.line = number;
    if (cells.size() != columns) {
      diagnostics
          .error("E0551", place, fmt::format("a row of {} cells, the layout has {} columns", cells.size(), columns))
          .help(cells.size() == 1 ? "separate the cells with commas, or with tabs in all lines"
                                  : "give every column a cell, also an empty one; pad words have none");
      continue;
    }
    std::size_t cell = 0;
    for (const Column& column : layout.columns) {
      if (column.kind == ColumnKind::pad) {
        words.push_back(0);
        continue;
      }
      const auto word = word_of(column, cells[cell]);
      if (!word) {
        auto& d = diagnostics.error("E0551", place,
                                    fmt::format("cell {} of a row, {}: `{}`", cell + 1, column.name(),
                                                spec::printable(spec::shorten(cells[cell], 40))));
        if (cells[cell].empty())
          d.help(fmt::format("begin the operators of {} with fill_null, so that a missing value has a word",
                             column.name()));
        else if (column.kind == ColumnKind::sparse)
          d.help("write up to eight hexadecimal digits");
        else
          d.help("write a whole number of 32 bits");
      }
      words.push_back(word.value_or(0));
      ++cell;
    }
  }
  if (words.empty() && diagnostics.error_count() == before)
    diagnostics.error("E0551", spec::file_place(file), "no rows").help("write a line a row, a cell a column");
  if (diagnostics.error_count() != before) return std::nullopt;
  return words;
}

std::vector<std::vector<std::string>> write_rows(const Layout& layout, std::span<const std::uint8_t> output) {
  std::vector<std::vector<std::string>> out(1);
  std::vector<Shown> shown;
  for (const int column : layout.output) {
    const Column& c = layout.columns[static_cast<std::size_t>(column)];
    shown.push_back(shown_as(c));
    std::string name = c.name();
    name[name.find(' ')] = '_';
    out[0].push_back(name);
  }
  const auto row_bytes = static_cast<std::size_t>(layout.row_bytes());
  for (std::size_t row = 0; row + row_bytes <= output.size(); row += row_bytes) {
    std::vector<std::string>& cells = out.emplace_back();
    std::size_t at = row;
    for (std::size_t i = 0; i < layout.output.size(); ++i) {
      const int bytes = layout.columns[static_cast<std::size_t>(layout.output[i])].bytes;
      std::uint32_t bits = 0;
      for (int b = 0; b < bytes; ++b) bits |= std::uint32_t{output[at++]} << (8 * b);
      cells.push_back(cell_of(shown[i], bits, bytes));
    }
  }
  return out;
}

}  // namespace rocegen::preprocess

// Rows as text: a file of rows becomes words, and the output of rows becomes cells again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "generator/services/preprocess/layout.h"

namespace rocegen::preprocess {

/// The words of all rows of `text`: a line a row, a cell a column that is not pad (pad words are 0), separated by
/// commas or, if the first line has one, by tabs. A first line of names is skipped. Cells
/// of sparse columns are hexadecimal, the others whole numbers; an empty cell is the null word of the column's
/// fill_null. `file` is the name for diagnostics E0551.
std::optional<std::vector<std::uint32_t>> read_rows(const Layout& layout, const std::string& file,
                                                    const std::string& text, spec::Diagnostics& diagnostics);

/// The output of rows as cells: a first row of names, then a row a row. Floating-point numbers with nine digits.
std::vector<std::vector<std::string>> write_rows(const Layout& layout, std::span<const std::uint8_t> output);

}  // namespace rocegen::preprocess

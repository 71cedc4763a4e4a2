// Integer expressions of scenarios: "b.dst + 3", "5 * mtu + 17", "0x1000", "WRITE_ONLY".
//
// 64-bit unsigned, wrapping. Operators in order of precedence: unary -; * / %; + -; << >>; &; ^; |. Parentheses.
// Numbers in decimal or hexadecimal (0x), '_' between digits. Dotted quads and MAC addresses are numbers, too. Names
// are resolved by the caller.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sim/model/bytes.h"

namespace rocegen::sim {

/// Value of a name, or nothing if it is unknown.
using NameLookup = std::function<std::optional<uint64_t>(std::string_view)>;

/// Evaluates `text`; nothing, with a message, if it cannot be read, a name is unknown, or it divides by zero.
std::optional<uint64_t> evaluate(std::string_view text, const NameLookup& lookup, std::string& error);

}  // namespace rocegen::sim

// The keywords of SystemVerilog: no module, port or wire may be named so.
#pragma once

#include <string_view>

namespace rocegen::spec {

/// True for a reserved word of IEEE 1800-2017, Annex B.
bool is_keyword(std::string_view word);

}  // namespace rocegen::spec

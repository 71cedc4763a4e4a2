// Reads models from files: XGBoost JSON, LightGBM text, rules of IIsy, and the integer JSON of docs/services-dpi.md.
// Faults are diagnostics E0520 to E0530 with their place.
#pragma once

#include <optional>
#include <string>

#include "generator/model/model.h"
#include "generator/spec/diagnostic.h"

namespace rocegen::model {

/// Largest model file that is read.
inline constexpr std::size_t kMaxModelBytes = std::size_t{64} << 20U;

/// The model in the file `path`.
std::optional<Model> read_model(const std::string& path, spec::Diagnostics& diagnostics);

/// The same for a text; `file` is the name that diagnostics show. Forests are not in fixed point yet (fix_point).
std::optional<Model> read_model_text(std::string file, std::string text, spec::Diagnostics& diagnostics);

}  // namespace rocegen::model

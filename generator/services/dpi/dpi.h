// Service type dpi: inspection of received packets by a trained model. docs/services-dpi.md.
#pragma once

#include <optional>

#include "generator/services/dpi/inspect.h"
#include "generator/services/service.h"

namespace rocegen::services {

const ServiceType& dpi_type();

/// Reads and checks an entry with its model: everything but the hardware. Faults are diagnostics E0520 to E0536.
std::optional<Inspection> read_inspection(const spec::StackSpec& spec, std::size_t index,
                                          spec::Diagnostics& diagnostics);

}  // namespace rocegen::services

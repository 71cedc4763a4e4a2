// The service type "preprocess": rows of recommender data are preprocessed on their way to memory.
#pragma once

#include <cstddef>

#include "generator/services/preprocess/layout.h"
#include "generator/services/service.h"

namespace rocegen::preprocess {

const services::ServiceType& preprocess_type();

/// The layout of an entry that has been checked.
Layout layout_of(const spec::StackSpec& spec, std::size_t index);
/// LUT levels between two registers in this variant.
int level_budget(const spec::StackSpec& spec);

}  // namespace rocegen::preprocess

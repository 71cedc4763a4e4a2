#include <algorithm>
#include <array>
#include <bit>

#include "generator/services/aes/aes.h"
#include "generator/services/custom/custom.h"
#include "generator/services/dpi/dpi.h"
#include "generator/services/preprocess/preprocess.h"
#include "generator/services/service.h"

namespace rocegen::services {

std::span<const ServiceType* const> types() {
  // One line a type.
  static const std::array<const ServiceType*, 4> all = {
      &aes_type(),
      &dpi_type(),
      &preprocess::preprocess_type(),
      &custom_type(),
  };
  return all;
}

const ServiceType* find_type(std::string_view name) {
  const auto all = types();
  const auto it = std::find_if(all.begin(), all.end(), [&](const ServiceType* type) { return type->name() == name; });
  return it == all.end() ? nullptr : *it;
}

std::vector<spec::Field> fields_of(const ServiceType& type) {
  std::vector<spec::Field> all;
  spec::FieldTable table(all);
  table.add("", spec::Kind::object, std::string(type.doc()));
  table.add("/type", spec::Kind::word, "Type of the service.")
      .words({std::string(type.name())})
      .required()
      .example("\"" + std::string(type.name()) + "\"");
  table
      .add("/name", spec::Kind::text,
           "Name of the entry, different from the others'; its counters, registers and instances begin with it. "
           "Default: the type.")
      .pattern(spec::kIdentifierPattern, spec::is_identifier, spec::kIdentifierWords)
      .max_length(48)
      .example("\"" + std::string(type.name()) + "_a\"");
  for (spec::Field& field : type.fields()) all.push_back(std::move(field));
  return all;
}

int ingress_buffer_beats(const spec::StackSpec& spec) {
  const int longest = (spec.max_payload() + spec.bytes_per_beat() - 1) / spec.bytes_per_beat();
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(512, 3 * longest))));
}

}  // namespace rocegen::services

// The hardware of an inspection: what is compiled for it, and the module that puts it together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/model/model.h"
#include "generator/services/dpi/sources.h"
#include "generator/services/service.h"

namespace rocegen::services {

/// What is done with a packet of a class; bits as in dpi_gate.
struct ClassActions {
  int actions = 0;
  int tag = 0;
};

/// One entry of type dpi, read and checked.
struct Inspection {
  std::string name;
  model::Model model;
  std::vector<std::optional<Source>> features;  ///< by feature of the model; none: it is not used
  bool chunk = false;                           ///< every full chunk is judged, not the packet as a whole
  int chunk_bytes = 64;
  int max_payload = 4096;  ///< of a packet that the inspection sees
  std::vector<ClassActions> classes;
};

struct InspectionModules {
  std::vector<ModuleText> texts;
  std::string stage;  ///< name of the module with s_pkt and m_pkt
  int latency = 0;    ///< cycles from a packet's last beat in to its last beat out
  int luts = 0;       ///< of the compiled parts, about
};

/// Compiles the model and what it reads for a datapath of `data_width` bits.
InspectionModules compile_inspection(const Inspection& inspection, int data_width, int level_budget);

}  // namespace rocegen::services

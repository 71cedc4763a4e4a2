#include "sim/harness/registers.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace rocegen::sim {
namespace {

struct Row {
  const char* name;
  uint16_t address;
};

// docs/registers.md. The simulator is built without the generator; a unit test holds this list against the generator's
// table. With a manifest, the manifest's own list is used.
constexpr Row kRegisters[] = {
    {"ID", 0x000},          {"VERSION", 0x004},    {"SPEC_HASH", 0x008},      {"STATUS", 0x00C},
    {"CTRL", 0x010},        {"DATA_WIDTH", 0x014}, {"QP_COUNT", 0x018},       {"MR_COUNT", 0x01C},
    {"WQE_SLOTS", 0x020},   {"CLOCK_KHZ", 0x024},  {"LOCAL_MAC_LO", 0x030},   {"LOCAL_MAC_HI", 0x034},
    {"LOCAL_IP", 0x038},    {"IP_CONFIG", 0x03C},  {"EVENT", 0x040},          {"RQE_SLOTS", 0x044},
    {"SRQ_COUNT", 0x048},   {"READ_DEPTH", 0x04C}, {"TARGETS", 0x050},        {"QP_NUM", 0x100},
    {"QP_ATTR", 0x104},     {"QP_PROT", 0x108},    {"QP_RQ_PSN", 0x10C},      {"QP_SQ_PSN", 0x110},
    {"QP_DEST_QPN", 0x114}, {"QP_DEST_IP", 0x118}, {"QP_DEST_MAC_LO", 0x11C}, {"QP_DEST_MAC_HI", 0x120},
    {"QP_SQ_RING", 0x124},  {"QP_COMMAND", 0x128}, {"QP_RD_LIMITS", 0x12C},   {"QP_RQ_RING", 0x130},
    {"QP_RQ_ATTR", 0x134},  {"MR_INDEX", 0x140},   {"MR_ATTR", 0x144},        {"MR_BASE_LO", 0x148},
    {"MR_BASE_HI", 0x14C},  {"MR_LEN_LO", 0x150},  {"MR_LEN_HI", 0x154},      {"MR_COMMAND", 0x158},
    {"SRQ_NUM", 0x160},     {"SRQ_RING", 0x164},   {"SRQ_COMMAND", 0x168},    {"RQE_WORD0", 0x180},
    {"RQE_WORD1", 0x184},   {"RQE_WORD2", 0x188},  {"RQE_WORD3", 0x18C},      {"RQE_WORD4", 0x190},
    {"RQE_WORD5", 0x194},   {"RQE_WORD6", 0x198},  {"RQE_WORD7", 0x19C},      {"RQE_COMMAND", 0x1A0},
};

bool number(const nlohmann::ordered_json& j, uint64_t& out) {
  if (j.is_number_unsigned() || j.is_number_integer()) {
    out = j.get<uint64_t>();
    return true;
  }
  if (!j.is_string()) return false;
  const std::string s = j.get<std::string>();
  char* end = nullptr;
  out = std::strtoull(s.c_str(), &end, 0);
  return !s.empty() && *end == '\0';
}

/// Reads one list of {"name", "address"}.
template <typename Add>
bool read_list(const nlohmann::ordered_json& list, const char* what, std::string& error, Add add) {
  for (const auto& e : list) {
    uint64_t address = 0;
    if (!e.is_object() || !e.contains("name") || !e["name"].is_string() || !e.contains("address") ||
        !number(e["address"], address) || address > 0xFFFF) {
      error = fmt::format("manifest: \"{}\" has an entry without a name or a 16-bit address", what);
      return false;
    }
    add(e["name"].get<std::string>(), static_cast<uint16_t>(address));
  }
  return true;
}

}  // namespace

RegisterMap RegisterMap::standard() {
  RegisterMap m;
  for (const Row& r : kRegisters) m.registers[r.name] = r.address;
  return m;
}

bool RegisterMap::from_manifest(const nlohmann::ordered_json& manifest, RegisterMap& out, std::string& error) {
  const nlohmann::ordered_json* root = &manifest;
  if (manifest.contains("register_map") && manifest["register_map"].is_object()) root = &manifest["register_map"];
  const auto regs = root->find("registers");
  const auto counters = root->find("counters");
  if (regs == root->end() || !regs->is_array()) {
    error = "manifest: has no \"registers\"";
    return false;
  }
  if (!read_list(*regs, "registers", error, [&](std::string n, uint16_t a) { out.registers[std::move(n)] = a; })) {
    return false;
  }
  if (counters != root->end() && counters->is_array() &&
      !read_list(*counters, "counters", error, [&](std::string n, uint16_t a) {
        out.counters.push_back({std::move(n), a});
      })) {
    return false;
  }
  std::string missing;
  for (const Row& r : kRegisters) {
    if (!out.registers.contains(r.name)) missing += fmt::format(" {}", r.name);
  }
  if (!missing.empty()) {
    error = "manifest: \"registers\" lacks" + missing;
    return false;
  }
  return true;
}

}  // namespace rocegen::sim

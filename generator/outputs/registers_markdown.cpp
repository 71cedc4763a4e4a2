#include <fmt/format.h>

#include <iterator>

#include "generator/outputs/registers.h"

namespace rocegen::outputs {

namespace {

std::string escape(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

}  // namespace

std::string registers_markdown(const RegisterMap& map, bool variant) {
  std::string out =
      "# Registers\n\n"
      "<!-- written by rocegen from generator/outputs/registers.cpp; do not edit -->\n\n"
      "32-bit words on `s_axil`, byte addresses. An address without a register answers SLVERR and changes nothing. A "
      "write to a\n"
      "`COMMAND` register is answered when every module concerned has taken the set-up: when BVALID comes, it is in "
      "force.\n"
      "Access: `ro` read only, `rw` read and write, `wo` write only (reads as zero), `w1` writing 1 acts, `pop` "
      "reading takes the entry.\n\n"
      "| address | register | bits | field | access | reset | what |\n|---|---|---|---|---|---|---|\n";
  auto to = std::back_inserter(out);
  for (const Register& reg : map.registers) {
    bool first = true;
    for (const Field& field : reg.fields) {
      const bool constant = field.access == Access::ro && field.source.empty();
      // ID is the same in every variant; the other constants are the variant's.
      const bool shown = field.access == Access::rw || (constant && (variant || reg.name == "ID"));
      std::string what = first ? reg.doc : "";
      if (!field.doc.empty() && field.name != "value") what += (what.empty() ? "" : ": ") + field.doc;
      fmt::format_to(to, "| {} | {} | {} | {} | {} | {} | {} |\n", first ? fmt::format("0x{:03X}", reg.address) : "",
                     first ? "`" + reg.name + "`" : "",
                     field.width == 1 ? fmt::format("{}", field.lsb)
                                      : fmt::format("{}:{}", field.lsb + field.width - 1, field.lsb),
                     field.name, to_string(field.access), shown ? fmt::format("0x{:X}", field.reset) : "",
                     escape(what));
      first = false;
    }
  }
  out +=
      "\n## Counters\n\n32 bits each, wrapping, cleared by reset only. A counter is named after the port "
      "`cnt_<name>_o` that it counts.\n\n"
      "| address | counter | counted in |\n|---|---|---|\n";
  for (const Counter& counter : map.counters)
    fmt::format_to(to, "| 0x{:03X} | `{}` | {} |\n", counter.address, counter.name, counter.instance);
  return out;
}

}  // namespace rocegen::outputs

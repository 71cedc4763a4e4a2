#include "generator/services/aes/aes.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/dataflow/schedule.h"

namespace rocegen::services {

using netlist::InstanceHandle;
using netlist::Params;
using outputs::Access;
using spec::Kind;

namespace {

bool is_gcm(const spec::ServiceSpec& entry) { return entry.json().at("mode").get<std::string>() == "gcm"; }
int key_bits(const spec::ServiceSpec& entry) { return entry.json().at("key_bits").get<int>(); }

/// A round is four LUT levels.
int rounds_per_stage(const spec::StackSpec& spec) {
  return std::clamp(dataflow::level_budget(spec.pipeline_depth, spec.clock_mhz) / 4, 1, 14);
}

class Aes final : public Service {
 public:
  Aes(const spec::StackSpec& spec, const spec::ServiceSpec& entry)
      : gcm_(is_gcm(entry)),
        key_bits_(key_bits(entry)),
        rounds_(rounds_per_stage(spec)),
        data_width_(spec.data_width) {}

  std::vector<WindowRegister> registers() const override {
    std::vector<WindowRegister> all = {
        {"QPN",
         0x00,
         "Queue pair that a command works on and that STATUS is of.",
         {{"qpn", 0, 24, Access::rw, 0, "", ""}}},
        {"SALT",
         0x04,
         "First 4 bytes of the nonce, byte 0 in bits 7:0. Reads 0.",
         {{"salt", 0, 32, Access::wo, 0, "", ""}}},
        {"FROM_REQUEST",
         0x08,
         "First PSN of requests that the new key is for. Reads 0.",
         {{"psn", 0, 24, Access::wo, 0, "", ""}}},
        {"FROM_RESPONSE",
         0x0C,
         "First PSN of READ responses that the new key is for. Reads 0.",
         {{"psn", 0, 24, Access::wo, 0, "", ""}}},
        {"COMMAND",
         0x10,
         "Puts the key in KEY_n into the older slot of the queue pair's direction; answered when it is in force. "
         "Clears KEY_n and SALT.",
         {{"received", 0, 1, Access::wo, 0, "", "0: of what is sent, 1: of what is received"},
          {"aes256", 1, 1, Access::wo, 0, "", "the key has 256 bits"},
          {"erase", 2, 1, Access::wo, 0, "", "no new key: both slots are erased"}},
         true},
        {"STATUS",
         0x14,
         "Slots of QPN.",
         {{"sent_valid", 0, 2, Access::ro, 0, "", "slots that hold a key"},
          {"sent_newer", 2, 1, Access::ro, 0, "", "which one is newer"},
          {"sent_in_force_request", 3, 1, Access::ro, 0, "", "the newer one is in force for requests"},
          {"sent_in_force_response", 4, 1, Access::ro, 0, "", "and for READ responses"},
          {"received_valid", 8, 2, Access::ro, 0, "", "the same of what is received"},
          {"received_newer", 10, 1, Access::ro, 0, "", ""},
          {"received_in_force_request", 11, 1, Access::ro, 0, "", ""},
          {"received_in_force_response", 12, 1, Access::ro, 0, "", ""},
          {"result", 16, 4, Access::ro, 0, "",
           "of the last command: 0 done, 1 no such queue pair or not set up, 2 key size, 3 a slot of the other "
           "direction has the same salt"}}},
    };
    for (int i = 0; i < key_bits_ / 32; ++i)
      all.push_back({fmt::format("KEY_{}", i),
                     static_cast<std::uint32_t>(0x20 + 4 * i),
                     fmt::format("Bytes {} to {} of the key, the first in bits 7:0. Reads 0.", 4 * i, 4 * i + 3),
                     {{"key", 0, 32, Access::wo, 0, "", ""}}});
    return all;
  }

  void attach(Attach point, Site& site) const override {
    if (!tables_) {
      tables_ = site.side("tables", "aes_tables", common(), "keys and positions of PSNs, for both directions");
      site.erase(*tables_);  // so no packet finds the keys of a former life and the mask of the new one
      site.life(*tables_);
      site.window(*tables_);
    }
    Params params = common();
    params.push_back({"RoundsPerStage", rounds_});
    const bool in = point == Attach::ingress;
    const InstanceHandle stage =
        site.stage(point, in ? "aes_ingress" : "aes_egress", params, in ? "decrypts" : "encrypts");
    site.top().connect_pin(tables_->pin(in ? "received_o" : "sent_o"), stage.pin("tables_i"));
  }

  int latency(Attach /*point*/) const override {
    const int cipher = 8 + (rounds_of_key() + rounds_ - 1) / rounds_;  // from the look-up of the key
    const int text = 1 + cipher + 1 + 2;
    if (!gcm_) return text;
    const int heads = data_width_ > 128 ? 1 : 2;
    return text + heads + 7;
  }

 private:
  int rounds_of_key() const { return key_bits_ == 256 ? 14 : 10; }
  Params common() const { return {{"KeyBits", key_bits_}, {"Gcm", gcm_ ? 1 : 0}}; }

  bool gcm_;
  int key_bits_;
  int rounds_;
  int data_width_;
  mutable std::optional<InstanceHandle> tables_;  // made at the first attach point
};

class AesType final : public ServiceType {
 public:
  std::string_view name() const override { return "aes"; }
  std::string_view doc() const override {
    return "Encrypts the payload of SEND, WRITE and READ responses with AES, each packet under the key of its queue "
           "pair and direction: docs/services-aes.md.";
  }
  std::vector<spec::Field> fields() const override {
    std::vector<spec::Field> all;
    spec::FieldTable t(all);
    t.add("/mode", Kind::word,
          "`ctr` encrypts; `gcm` also authenticates payload and headers, by 16 bytes behind each packet's payload.")
        .words({"ctr", "gcm"})
        .required()
        .example("\"gcm\"");
    t.add("/key_bits", Kind::integer, "Longest key. 256: keys of 128 and of 256 bits; 128 takes less area.")
        .unit("bits")
        .values({128, 256})
        .fallback(256)
        .example("128");
    return all;
  }
  bool once() const override { return true; }
  std::vector<Attach> attach(const spec::ServiceSpec& /*entry*/) const override {
    return {Attach::ingress, Attach::egress};
  }
  int trailer(const spec::ServiceSpec& entry) const override { return is_gcm(entry) ? kAesTagBytes : 0; }
  std::unique_ptr<Service> make(const spec::StackSpec& spec, std::size_t index,
                                spec::Diagnostics& /*diagnostics*/) const override {
    return std::make_unique<Aes>(spec, spec.services[index]);
  }
};

}  // namespace

const ServiceType& aes_type() {
  static const AesType type;
  return type;
}

}  // namespace rocegen::services

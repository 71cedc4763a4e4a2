#include "sim/model/aes.h"

#include <openssl/evp.h>

#include <memory>
#include <stdexcept>

#include "sim/model/rng.h"

namespace rocegen::sim {
namespace {

struct Free {
  void operator()(EVP_CIPHER_CTX* ctx) const { EVP_CIPHER_CTX_free(ctx); }
};

void need(int result) {
  if (result != 1) throw std::runtime_error("OpenSSL refused");
}

void put(Bytes& to, uint64_t value, size_t bytes) {
  while (bytes-- > 0) to.push_back(static_cast<uint8_t>(value >> (8 * bytes)));
}

bool is_response(uint8_t opcode) { return opcode >= op::ReadRespFirst && opcode <= op::ReadRespOnly; }

/// SEND, WRITE and READ responses.
bool encrypts(uint8_t opcode) {
  return is_response(opcode) || opcode <= op::WriteOnlyImm || opcode == op::SendLastInv || opcode == op::SendOnlyInv;
}

Bytes associated(const Frame& f) {
  const OpcodeLayout& l = opcode_layout(f.opcode);
  const bool response = is_response(f.opcode);
  Bytes a = {static_cast<uint8_t>(response), response ? uint8_t{0} : f.opcode, static_cast<uint8_t>(!response && f.se),
             0};
  put(a, l.reth ? f.va : 0, 8);
  put(a, l.reth ? f.rkey : 0, 4);
  put(a, l.reth ? f.dma_len : 0, 4);
  put(a, l.imm ? f.imm : l.ieth ? f.inv_rkey : 0, 4);
  a.resize(32);
  return a;
}

}  // namespace

AesService::AesService(const nlohmann::ordered_json& entry, size_t place)
    : name(entry.value("name", "")),
      bit(static_cast<uint8_t>(1u << place)),
      gcm(entry.value("mode", "") == "gcm"),
      key_bytes(entry.value("key_bits", size_t{256}) / 8) {}

AesKey agreed_key(const LocalAddress& local, const QpConfig& qp, bool received, size_t longest) {
  const uint64_t here = uint64_t{local.ip} << 24 | qp.qpn;
  const uint64_t there = uint64_t{qp.dip} << 24 | qp.dqpn;
  Rng rng(mix64(mix64(received ? there : here) ^ (received ? here : there)) ^ (received ? qp.rq_psn : qp.sq_psn));
  AesKey out{{}, {}, received ? qp.rq_psn : qp.sq_psn, received ? qp.sq_psn : qp.rq_psn};
  const size_t bytes = rng.chance(0.25) ? 16 : longest;
  while (out.key.size() < bytes) out.key.push_back(static_cast<uint8_t>(rng.next()));
  while (out.salt.size() < 4) out.salt.push_back(static_cast<uint8_t>(rng.next()));
  return out;
}

uint64_t AesWire::extend(uint64_t highest, uint32_t psn) {
  constexpr uint64_t kAhead = 6 << 20;  // what lies further ahead lies behind
  const uint64_t step = (psn - highest) & 0xFFFFFF;
  return highest + step - (step < kAhead ? 0 : uint64_t{1} << 24);
}

void AesWire::setup_qp(const QpConfig& qp, bool encrypted) {
  Qp& q = qps_[qp.qpn];
  q = {};
  q.on = encrypted;
  q.dqpn = qp.dqpn;
  q.highest = {qp.sq_psn, qp.rq_psn};
  local_[{qp.dip, qp.dqpn}] = qp.qpn;
}

void AesWire::set_key(uint32_t qpn, bool received, const AesKey& key) {
  Qp& q = qps_[qpn];
  Slot slot{key, {}};
  slot.from[0] = extend(q.highest[received ? 1 : 0], key.from_request);
  slot.from[1] = extend(q.highest[received ? 0 : 1], key.from_response);
  auto& slots = q.slots[received ? 1 : 0];
  slots.push_back(slot);
  if (slots.size() > 2) slots.pop_front();
}

const AesWire::Slot* AesWire::in_force(const Qp& qp, bool received, bool response, uint64_t ext) {
  const auto& slots = qp.slots[received ? 1 : 0];
  for (auto s = slots.rbegin(); s != slots.rend(); ++s)
    if (static_cast<int64_t>(ext - s->from[response ? 1 : 0]) >= 0) return &*s;
  return nullptr;
}

Bytes AesWire::apply(const Slot& slot, uint32_t destination, const Frame& f, bool response, uint64_t ext, bool opening,
                     bool& good) const {
  const std::unique_ptr<EVP_CIPHER_CTX, Free> ctx(EVP_CIPHER_CTX_new());
  Bytes nonce = slot.key.salt;
  put(nonce, destination, 3);
  put(nonce, (ext & ((uint64_t{1} << 39) - 1)) | (response ? uint64_t{1} << 39 : 0), 5);
  const bool big = slot.key.key.size() == 32;
  Bytes in = f.payload;
  Bytes out(in.size());
  int done = 0;
  good = true;
  if (!gcm_) {
    put(nonce, 1, 4);
    need(EVP_EncryptInit_ex(ctx.get(), big ? EVP_aes_256_ctr() : EVP_aes_128_ctr(), nullptr, slot.key.key.data(),
                            nonce.data()));
    if (!in.empty()) need(EVP_EncryptUpdate(ctx.get(), out.data(), &done, in.data(), static_cast<int>(in.size())));
    return out;
  }
  const Bytes aad = associated(f);
  const auto* const cipher = big ? EVP_aes_256_gcm() : EVP_aes_128_gcm();
  if (!opening) {
    need(EVP_EncryptInit_ex(ctx.get(), cipher, nullptr, slot.key.key.data(), nonce.data()));
    need(EVP_EncryptUpdate(ctx.get(), nullptr, &done, aad.data(), static_cast<int>(aad.size())));
    if (!in.empty()) need(EVP_EncryptUpdate(ctx.get(), out.data(), &done, in.data(), static_cast<int>(in.size())));
    out.resize(in.size() + kAesTag);
    need(EVP_EncryptFinal_ex(ctx.get(), out.data() + in.size(), &done));
    need(EVP_CIPHER_CTX_ctrl(ctx.get(), EVP_CTRL_GCM_GET_TAG, kAesTag, out.data() + in.size()));
    return out;
  }
  good = in.size() >= kAesTag;
  if (!good) return {};
  Bytes tag(in.end() - kAesTag, in.end());
  in.resize(in.size() - kAesTag);
  out.resize(in.size() + kAesTag);
  need(EVP_DecryptInit_ex(ctx.get(), cipher, nullptr, slot.key.key.data(), nonce.data()));
  need(EVP_DecryptUpdate(ctx.get(), nullptr, &done, aad.data(), static_cast<int>(aad.size())));
  if (!in.empty()) need(EVP_DecryptUpdate(ctx.get(), out.data(), &done, in.data(), static_cast<int>(in.size())));
  need(EVP_CIPHER_CTX_ctrl(ctx.get(), EVP_CTRL_GCM_SET_TAG, kAesTag, tag.data()));
  good = EVP_DecryptFinal_ex(ctx.get(), out.data() + in.size(), &done) == 1;
  out.resize(in.size());
  return out;
}

Bytes AesWire::seal(Bytes frame) {
  Parsed p = parse(frame);
  if (!p.ok()) return frame;
  const auto local = local_.find({p.frame.dst_ip, p.frame.dqpn});
  if (local == local_.end()) return frame;
  Qp& q = qps_[local->second];
  const bool to_requester = p.frame.opcode >= op::ReadRespFirst && p.frame.opcode <= op::AtomicAck;
  uint64_t& highest = q.highest[to_requester ? 1 : 0];
  const uint64_t ext = extend(highest, p.frame.psn);
  if (static_cast<int64_t>(ext - highest) > 0) highest = ext;
  if (!q.on || !encrypts(p.frame.opcode)) return frame;
  const bool response = is_response(p.frame.opcode);
  const Slot* slot = in_force(q, false, response, ext);
  if (slot == nullptr) {
    ++counts_.sent_no_key;
    return {};
  }
  ++counts_.sent;
  bool good = true;
  p.frame.payload = apply(*slot, q.dqpn, p.frame, response, ext, false, good);
  return build(p.frame);
}

Bytes AesWire::open(Bytes frame) {
  Parsed p = parse(frame);
  const auto found = p.ok() ? qps_.find(p.frame.dqpn) : qps_.end();
  if (found == qps_.end() || !found->second.on || !encrypts(p.frame.opcode)) return frame;
  const bool response = is_response(p.frame.opcode);
  const uint64_t ext = extend(found->second.highest[response ? 0 : 1], p.frame.psn);
  const Slot* slot = in_force(found->second, true, response, ext);
  if (slot == nullptr) {
    ++counts_.received_no_key;
    return {};
  }
  bool good = true;
  p.frame.payload = apply(*slot, p.frame.dqpn, p.frame, response, ext, true, good);
  if (!good) {
    ++counts_.wrong_tag;
    return {};
  }
  ++counts_.received;
  return build(p.frame);
}

}  // namespace rocegen::sim

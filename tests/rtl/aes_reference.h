// AES as OpenSSL does it, and readers of the NIST and RFC vector files: the references of the AES benches.
#pragma once

#include <openssl/evp.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/rtl/bench.h"

namespace rocegen::bench::aes {

inline Bytes unhex(const std::string& text) {
  Bytes out;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    out.push_back(static_cast<std::uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
  return out;
}

inline std::string hex(const Bytes& bytes) {
  std::string out;
  for (const std::uint8_t b : bytes) {
    out += "0123456789abcdef"[b >> 4];
    out += "0123456789abcdef"[b & 15];
  }
  return out;
}

namespace detail {
struct Context {
  EVP_CIPHER_CTX* p = EVP_CIPHER_CTX_new();
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { EVP_CIPHER_CTX_free(p); }
};
inline void good(int result, const char* what) {
  if (result != 1) throw std::runtime_error(std::string("OpenSSL: ") + what);
}
}  // namespace detail

/// AES of whole blocks, each by itself. The key has 16 or 32 bytes.
inline Bytes ecb(const Bytes& key, const Bytes& in) {
  detail::Context ctx;
  detail::good(EVP_EncryptInit_ex(ctx.p, key.size() == 32 ? EVP_aes_256_ecb() : EVP_aes_128_ecb(), nullptr, key.data(),
                                  nullptr),
               "init");
  EVP_CIPHER_CTX_set_padding(ctx.p, 0);
  Bytes out(in.size());
  int done = 0;
  detail::good(EVP_EncryptUpdate(ctx.p, out.data(), &done, in.data(), static_cast<int>(in.size())), "update");
  return out;
}

/// CTR from a 16-byte counter block; encrypts and decrypts.
inline Bytes ctr(const Bytes& key, const Bytes& counter, const Bytes& in) {
  detail::Context ctx;
  detail::good(EVP_EncryptInit_ex(ctx.p, key.size() == 32 ? EVP_aes_256_ctr() : EVP_aes_128_ctr(), nullptr, key.data(),
                                  counter.data()),
               "init");
  Bytes out(in.size());
  int done = 0;
  detail::good(EVP_EncryptUpdate(ctx.p, out.data(), &done, in.data(), static_cast<int>(in.size())), "update");
  return out;
}

/// GCM with a nonce of 12 bytes: ciphertext, then the tag of 16 bytes.
inline Bytes gcm_seal(const Bytes& key, const Bytes& nonce, const Bytes& aad, const Bytes& in) {
  detail::Context ctx;
  detail::good(EVP_EncryptInit_ex(ctx.p, key.size() == 32 ? EVP_aes_256_gcm() : EVP_aes_128_gcm(), nullptr, key.data(),
                                  nonce.data()),
               "init");
  Bytes out(in.size() + 16);
  int done = 0;
  detail::good(EVP_EncryptUpdate(ctx.p, nullptr, &done, aad.data(), static_cast<int>(aad.size())), "aad");
  if (!in.empty())
    detail::good(EVP_EncryptUpdate(ctx.p, out.data(), &done, in.data(), static_cast<int>(in.size())), "update");
  detail::good(EVP_EncryptFinal_ex(ctx.p, out.data(), &done), "final");
  detail::good(EVP_CIPHER_CTX_ctrl(ctx.p, EVP_CTRL_GCM_GET_TAG, 16, out.data() + in.size()), "tag");
  return out;
}

/// One vector of a file: its fields, those of the group's header ([IVlen = 96]) too.
struct Vector {
  std::map<std::string, std::string> fields;
  bool has(const std::string& name) const { return fields.contains(name); }
  const std::string& text(const std::string& name) const { return fields.at(name); }
  Bytes bytes(const std::string& name) const { return unhex(fields.at(name)); }
};

inline std::filesystem::path vector_folder() {
  return std::filesystem::path(ROCEGEN_SOURCE_DIR) / "../shared/vectors/aes";
}

/// Vectors of a NIST response file; none when ../shared is not there.
inline std::vector<Vector> read_response_file(const std::string& name) {
  std::vector<Vector> out;
  std::map<std::string, std::string> group;
  Vector open;
  std::ifstream in(vector_folder() / name);
  const auto close = [&] {
    if (!open.fields.empty()) {
      for (const auto& field : group) open.fields.insert(field);
      out.push_back(open);
    }
    open.fields.clear();
  };
  for (std::string line; std::getline(in, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with("[")) {
      close();
      const std::size_t is = line.find(" = ");
      if (is != std::string::npos) group[line.substr(1, is - 1)] = line.substr(is + 3, line.size() - is - 4);
      continue;
    }
    if (line.starts_with("COUNT") || line.starts_with("Count")) {
      close();
      open.fields["Count"] = line;
      continue;
    }
    const std::size_t is = line.find(" =");
    if (is == std::string::npos) {
      open.fields[line] = "";  // FAIL
    } else {
      const std::size_t value = line.find_first_not_of(" =", is);
      open.fields[line.substr(0, is)] = value == std::string::npos ? "" : line.substr(value);
    }
  }
  close();
  return out;
}

}  // namespace rocegen::bench::aes

// Seeded random numbers that are the same on every machine (xoshiro256**, seeded by splitmix64; Blackman and Vigna).
#pragma once

#include <cstdint>

namespace rocegen::sim {

/// One step of splitmix64: a well mixed 64-bit value of `x`.
inline uint64_t mix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

class Rng {
 public:
  explicit Rng(uint64_t seed = 1) {
    for (auto& s : s_) {
      s = mix64(seed);
      seed += 0x9E3779B97F4A7C15u;
    }
  }

  uint64_t next() {
    const uint64_t result = rotl(s_[1] * 5, 7) * 9;
    const uint64_t t = s_[1] << 17;
    s_[2] ^= s_[0];
    s_[3] ^= s_[1];
    s_[1] ^= s_[2];
    s_[0] ^= s_[3];
    s_[2] ^= t;
    s_[3] = rotl(s_[3], 45);
    return result;
  }

  /// Uniform in [0, n); 0 if n is 0.
  uint64_t below(uint64_t n) {
    if (n == 0) return 0;
    return static_cast<uint64_t>((static_cast<Wide>(next()) * n) >> 64);
  }

  /// Uniform in [lo, hi].
  uint64_t between(uint64_t lo, uint64_t hi) { return lo + below(hi - lo + 1); }

  /// True with probability `p`.
  bool chance(double p) {
    if (p <= 0.0) return false;
    return static_cast<double>(next() >> 11) * 0x1.0p-53 < p;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  uint64_t s_[4];
};

}  // namespace rocegen::sim

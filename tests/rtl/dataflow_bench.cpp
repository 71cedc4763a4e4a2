// Compiled dataflow modules against the vectors that dataflow_gen wrote (DATAFLOW_VECTORS names the file).
//
// All modules of a suite run side by side on the same vector in each enabled cycle; between them ce_i falls at random
// while the operands hold other values, which must not come through. Each output is compared in every cycle.
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "Vdut.h"
#include "tests/rtl/bench.h"

namespace {

struct Output {
  std::string name;
  int latency = 0;
  std::size_t lo = 0;
  std::size_t width = 0;
};

struct Vectors {
  std::vector<Output> outputs;
  std::size_t in_width = 0;
  std::size_t out_width = 0;
  std::vector<std::string> in;  // characters 0 and 1, bit 0 first
  std::vector<std::string> out;
};

Vectors read_vectors(const char* path) {
  Vectors r;
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.good(), path);
  std::size_t count = 0;
  for (std::string word; file >> word;) {
    if (word == "output") {
      Output o;
      file >> o.name >> o.latency >> o.lo >> o.width;
      r.outputs.push_back(o);
    } else {
      REQUIRE(word == "vectors");
      file >> count >> r.in_width >> r.out_width;
      break;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::string in;
    std::string out;
    file >> in >> out;
    REQUIRE(in.size() == r.in_width);
    REQUIRE(out.size() == r.out_width);
    r.in.push_back(in);
    r.out.push_back(out);
  }
  return r;
}

/// Words of a port: Verilator makes ports of up to 64 bits plain integers, wider ones arrays of 32-bit words.
template <typename T>
std::uint32_t word_of(const T& port, std::size_t index) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint32_t>(std::uint64_t{port} >> (32 * index));
  } else {
    return port[index];
  }
}

template <typename T>
void apply(T& port, const std::string& bits) {
  if constexpr (std::is_integral_v<T>) port = 0;
  for (std::size_t i = 0; i < (bits.size() + 31) / 32; ++i) {
    std::uint32_t word = 0;
    for (std::size_t b = 0; b < 32 && i * 32 + b < bits.size(); ++b) {
      word |= static_cast<std::uint32_t>(bits[i * 32 + b] == '1') << b;
    }
    if constexpr (std::is_integral_v<T>) {
      port = static_cast<T>(port | std::uint64_t{word} << (32 * i));
    } else {
      port[i] = word;
    }
  }
}

template <typename T>
std::string read_bits(const T& port, std::size_t lo, std::size_t width) {
  std::string r(width, '0');
  for (std::size_t i = 0; i < width; ++i) {
    if ((word_of(port, (lo + i) / 32) >> ((lo + i) % 32) & 1U) != 0) r[i] = '1';
  }
  return r;
}

}  // namespace

TEST_CASE("compiled modules give the expected results after exactly their latency, ce_i falling at random") {
  const Vectors vectors = read_vectors(DATAFLOW_VECTORS);
  REQUIRE(!vectors.outputs.empty());
  REQUIRE(vectors.in.size() >= 100);
  std::mt19937_64 rng(rocegen::bench::seed());
  VerilatedContext context;
  Vdut dut(&context);

  std::vector<std::size_t> accepted;
  std::size_t compared = 0;
  int shown = 0;
  const auto compare = [&](const Output& o, std::size_t vector) {
    const std::string found = read_bits(dut.out_o, o.lo, o.width);
    ++compared;
    if (found == vectors.out[vector].substr(o.lo, o.width)) return;
    if (++shown <= 5) {
      FAIL_CHECK(o.name << ", vector " << vector << ": " << found << ", expected "
                        << vectors.out[vector].substr(o.lo, o.width) << " (bit 0 first)");
    }
  };

  std::size_t next = 0;
  constexpr std::size_t kFlush = 64;  // repeats some vectors, so that the last of the others come out
  while (accepted.size() < vectors.in.size() + kFlush) {
    const bool enable = rng() % 4 != 0;
    const std::size_t vector = enable ? next % vectors.in.size() : rng() % vectors.in.size();
    dut.ce_i = enable ? 1 : 0;
    apply(dut.in_i, vectors.in[vector]);
    dut.clk = 0;
    dut.eval();
    for (const auto& o : vectors.outputs) {
      if (o.latency == 0) compare(o, vector);
    }
    dut.clk = 1;
    dut.eval();
    if (enable) {
      accepted.push_back(vector);
      ++next;
    }
    for (const auto& o : vectors.outputs) {
      const auto latency = static_cast<std::size_t>(o.latency);
      if (latency > 0 && accepted.size() >= latency) compare(o, accepted[accepted.size() - latency]);
    }
  }
  for (const auto& o : vectors.outputs) CHECK_MESSAGE(static_cast<std::size_t>(o.latency) < kFlush, o.name);
  CHECK(compared >= vectors.outputs.size() * vectors.in.size());
  CHECK(shown == 0);
  MESSAGE(vectors.outputs.size() << " outputs, " << compared << " comparisons");
}

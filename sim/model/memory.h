// Host memory of a station: sparse, byte addressed over 64 bits, with regions that the device may write.
//
// A byte that nobody wrote reads as background(address). Every byte outside of a region is a guard byte: check_guards()
// finds each one that no longer holds what the host put there, and device_write() reports a write outside of the
// regions at once.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "sim/model/bytes.h"

namespace rocegen::sim {

/// A range of addresses; `end` computed without overflow as base + length - 1.
struct Range {
  uint64_t base = 0;
  uint64_t length = 0;
  bool contains(uint64_t address) const { return address - base < length; }
  /// Whether any byte of [address, address + n) lies in it; n > 0, the range does not wrap.
  bool touches(uint64_t address, uint64_t n) const {
    return length != 0 && n != 0 && (address - base < length || base - address < n);
  }
};

class Memory {
 public:
  static constexpr uint64_t kPageBytes = 4096;

  explicit Memory(uint64_t seed = 0) : seed_(seed) {}

  /// Value of an address that was never written.
  uint8_t background(uint64_t address) const;

  uint8_t read8(uint64_t address) const;
  /// Copies memory out; addresses wrap at 2^64.
  void read(uint64_t address, std::span<uint8_t> out) const;
  Bytes read(uint64_t address, size_t n) const;

  /// Write by the host (the test): no region check, and the new value of guard bytes.
  void write(uint64_t address, ByteView data);
  /// Write by the device: bytes whose `strobe` bit is 0 stay; a strobed byte outside of every region is written all the
  /// same and recorded as a violation. `strobe` null: all bytes.
  void device_write(uint64_t address, ByteView data, const uint8_t* strobe = nullptr);

  /// Declares [base, base + length) as writable by the device.
  void add_region(uint64_t base, uint64_t length);
  void clear_regions() { regions_.clear(); }
  /// Says which AXI master [base, base + length) lies behind; 0 where nothing was said. The latest word counts.
  void set_target(uint64_t base, uint64_t length, uint8_t target) { targets_.push_back({{base, length}, target}); }
  uint8_t target_of(uint64_t address) const;
  bool in_region(uint64_t address) const;

  /// Device accesses that touch the range are answered with an error: reads, writes or both.
  void add_error(Range range, bool reads, bool writes) { errors_.push_back({range, reads, writes}); }
  void clear_errors() { errors_.clear(); }
  bool read_fails(uint64_t address, uint64_t n) const;
  bool write_fails(uint64_t address, uint64_t n) const;

  /// Every byte outside of the regions that does not hold what the host last wrote there, as messages "address: was,
  /// is"; at most `limit`, in order of address.
  std::vector<std::string> check_guards(size_t limit = 8) const;
  /// Writes of the device outside of the regions, as they happened (first `kMaxViolations`).
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  static constexpr size_t kMaxViolations = 16;
  struct Page {
    uint8_t data[kPageBytes];
    uint8_t host[kPageBytes];  // as the host wrote it; differs where the device wrote
  };
  struct Error {
    Range range;
    bool reads;
    bool writes;
  };
  Page* find(uint64_t page) const;
  Page& page(uint64_t number);
  void store(uint64_t address, ByteView data, bool host);

  uint64_t seed_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  mutable uint64_t last_number_ = ~uint64_t{0};
  mutable Page* last_ = nullptr;
  std::vector<Range> regions_;
  std::vector<std::pair<Range, uint8_t>> targets_;
  mutable size_t last_region_ = 0;
  std::vector<Error> errors_;
  std::vector<std::string> violations_;
};

}  // namespace rocegen::sim

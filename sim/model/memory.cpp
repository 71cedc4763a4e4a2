#include "sim/model/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/model/rng.h"

namespace rocegen::sim {

uint8_t Memory::background(uint64_t address) const {
  return static_cast<uint8_t>(mix64((address >> 3) ^ seed_) >> (8 * (address & 7)));
}

Memory::Page* Memory::find(uint64_t number) const {
  if (number == last_number_) return last_;
  const auto it = pages_.find(number);
  if (it == pages_.end()) return nullptr;
  last_number_ = number;
  last_ = it->second.get();
  return last_;
}

Memory::Page& Memory::page(uint64_t number) {
  if (Page* p = find(number)) return *p;
  auto fresh = std::make_unique<Page>();
  const uint64_t base = number * kPageBytes;
  for (uint64_t i = 0; i < kPageBytes; i += 8) {
    const uint64_t word = mix64(((base + i) >> 3) ^ seed_);
    for (unsigned b = 0; b < 8; ++b) fresh->data[i + b] = static_cast<uint8_t>(word >> (8 * b));
  }
  std::memcpy(fresh->host, fresh->data, kPageBytes);
  last_number_ = number;
  last_ = fresh.get();
  pages_.emplace(number, std::move(fresh));
  return *last_;
}

uint8_t Memory::read8(uint64_t address) const {
  const Page* p = find(address / kPageBytes);
  return p != nullptr ? p->data[address % kPageBytes] : background(address);
}

void Memory::read(uint64_t address, std::span<uint8_t> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const uint64_t offset = address % kPageBytes;
    const size_t n = std::min<size_t>(out.size() - done, kPageBytes - offset);
    if (const Page* p = find(address / kPageBytes)) {
      std::memcpy(&out[done], &p->data[offset], n);
    } else {
      for (size_t i = 0; i < n; ++i) out[done + i] = background(address + i);
    }
    done += n;
    address += n;
  }
}

Bytes Memory::read(uint64_t address, size_t n) const {
  Bytes b(n);
  read(address, std::span<uint8_t>(b));
  return b;
}

void Memory::write(uint64_t address, ByteView data) { store(address, data, true); }

void Memory::store(uint64_t address, ByteView data, bool host) {
  size_t done = 0;
  while (done < data.size()) {
    const uint64_t offset = address % kPageBytes;
    const size_t n = std::min<size_t>(data.size() - done, kPageBytes - offset);
    Page& p = page(address / kPageBytes);
    std::memcpy(&p.data[offset], &data[done], n);
    if (host) std::memcpy(&p.host[offset], &data[done], n);
    done += n;
    address += n;
  }
}

void Memory::device_write(uint64_t address, ByteView data, const uint8_t* strobe) {
  size_t i = 0;
  while (i < data.size()) {
    if (strobe != nullptr && ((strobe[i / 8] >> (i % 8)) & 1) == 0) {
      ++i;
      continue;
    }
    size_t end = i + 1;
    while (end < data.size() && (strobe == nullptr || ((strobe[end / 8] >> (end % 8)) & 1) != 0)) ++end;
    for (size_t k = i; k < end;) {
      // Skip over whole stretches that one region covers.
      const uint64_t at = address + k;
      if (in_region(at)) {
        const Range& r = regions_[last_region_];
        k += static_cast<size_t>(std::min<uint64_t>(end - k, r.length - (at - r.base)));
        continue;
      }
      if (violations_.size() < kMaxViolations) {
        violations_.push_back(fmt::format("device wrote {:#04x} to {:#x}, outside of every region", data[k], at));
      }
      ++k;
    }
    store(address + i, data.subspan(i, end - i), false);
    i = end;
  }
}

void Memory::add_region(uint64_t base, uint64_t length) {
  for (const Range& r : regions_) {
    if (r.base == base && r.length == length) return;
  }
  if (length != 0) regions_.push_back({base, length});
}

uint8_t Memory::target_of(uint64_t address) const {
  for (auto t = targets_.rbegin(); t != targets_.rend(); ++t)
    if (t->first.contains(address)) return t->second;
  return 0;
}

bool Memory::in_region(uint64_t address) const {
  if (last_region_ < regions_.size() && regions_[last_region_].contains(address)) return true;
  for (size_t i = 0; i < regions_.size(); ++i) {
    if (regions_[i].contains(address)) {
      last_region_ = i;
      return true;
    }
  }
  return false;
}

bool Memory::read_fails(uint64_t address, uint64_t n) const {
  for (const Error& e : errors_) {
    if (e.reads && e.range.touches(address, n)) return true;
  }
  return false;
}

bool Memory::write_fails(uint64_t address, uint64_t n) const {
  for (const Error& e : errors_) {
    if (e.writes && e.range.touches(address, n)) return true;
  }
  return false;
}

std::vector<std::string> Memory::check_guards(size_t limit) const {
  std::vector<uint64_t> numbers;
  numbers.reserve(pages_.size());
  for (const auto& entry : pages_) numbers.push_back(entry.first);
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::string> out;
  for (const uint64_t number : numbers) {
    const Page& p = *pages_.at(number);
    const uint64_t base = number * kPageBytes;
    for (uint64_t i = 0; i < kPageBytes; ++i) {
      if (in_region(base + i)) {
        const Range& r = regions_[last_region_];
        i += std::min<uint64_t>(kPageBytes - i, r.length - (base + i - r.base)) - 1;
        continue;
      }
      if (p.data[i] == p.host[i]) continue;
      if (out.size() >= limit) return out;
      out.push_back(fmt::format("guard byte {:#x} was {:#04x}, is {:#04x}", base + i, p.host[i], p.data[i]));
    }
  }
  return out;
}

}  // namespace rocegen::sim

// Small, stable hashes: the same on every run and machine, so they may be stored and compared.
#pragma once

#include <cstdint>
#include <string_view>

namespace hodei {

// splitmix64's finalizer: a bijection that scatters its input over all 64 bits.
constexpr uint64_t mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

constexpr uint64_t hash64(std::string_view text, uint64_t seed = 0) {
  uint64_t h = mix64(seed ^ text.size());
  for (char c : text) h = mix64(h ^ static_cast<unsigned char>(c));
  return h;
}

// 128 bits: wide enough that a collision need not be thought about.
struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const Hash128&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const Hash128& v) {
    return H::combine(std::move(h), v.high, v.low);
  }
};

constexpr Hash128 hash128(std::string_view text) { return {hash64(text, 1), hash64(text, 2)}; }

}  // namespace hodei

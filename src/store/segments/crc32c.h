// CRC-32C (Castagnoli), eight bytes at a time: tells a whole block from a torn or rotten one.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hodei::store {

namespace crc32c_detail {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
    t[0][i] = c;
  }
  for (uint32_t i = 0; i < 256; ++i) {
    for (size_t k = 1; k < 8; ++k) t[k][i] = t[k - 1][i] >> 8 ^ t[0][t[k - 1][i] & 0xff];
  }
  return t;
}

inline constexpr Tables kTables = make_tables();

}  // namespace crc32c_detail

// `crc` is the result for what comes before, so that parts can be added up.
inline uint32_t crc32c(std::string_view bytes, uint32_t crc = 0) {
  const auto& t = crc32c_detail::kTables;
  const char* p = bytes.data();
  size_t n = bytes.size();
  crc = ~crc;
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    word ^= crc;
    crc = t[7][word & 0xff] ^ t[6][word >> 8 & 0xff] ^ t[5][word >> 16 & 0xff] ^ t[4][word >> 24 & 0xff] ^
          t[3][word >> 32 & 0xff] ^ t[2][word >> 40 & 0xff] ^ t[1][word >> 48 & 0xff] ^ t[0][word >> 56];
  }
  for (; n > 0; --n, ++p) crc = crc >> 8 ^ t[0][(crc ^ static_cast<unsigned char>(*p)) & 0xff];
  return ~crc;
}

}  // namespace hodei::store

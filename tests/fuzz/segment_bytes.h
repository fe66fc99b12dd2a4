// Repairs the checksums of log segments and their indexes, so that a fuzzer gets behind them. The layouts are those of
// block.cc and sealed_segment.cc.
#pragma once

#include <cstring>
#include <string>

#include "src/store/segments/block.h"
#include "src/store/segments/crc32c.h"

namespace hodei::fuzz {

template <class T>
T get(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

template <class T>
void put(std::string& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

inline constexpr size_t kCrcAt = 4;
inline constexpr size_t kBodyBytesAt = 8;
inline constexpr size_t kRawBytesAt = 12;
inline constexpr uint32_t kMostRawBytes = 1 << 20;  // only a block that we wrote has a good checksum and claims more

// Makes a whole block of what stands at `at`; returns where the next one begins.
inline size_t repair_block(std::string& segment, size_t at) {
  if (segment.size() - at < store::kBlockHeaderBytes) return segment.size();
  const size_t most = segment.size() - at - store::kBlockHeaderBytes;
  const auto body = static_cast<uint32_t>(std::min<size_t>(get<uint32_t>(segment, at + kBodyBytesAt), most));
  put(segment, at, store::kBlockMagic);
  put(segment, at + kBodyBytesAt, body);
  put(segment, at + kRawBytesAt, get<uint32_t>(segment, at + kRawBytesAt) % kMostRawBytes);
  const size_t size = store::kBlockHeaderBytes + body;
  put(segment, at + kCrcAt, store::crc32c(std::string_view(segment).substr(at + kBodyBytesAt, size - kBodyBytesAt)));
  return at + size;
}

inline void repair_segment(std::string& segment) {
  for (size_t at = 0; at < segment.size();) at = repair_block(segment, at);
}

// The checksum of the part that is kept in memory; records and blocks behind it have none.
inline void repair_index(std::string& index) {
  constexpr size_t kHeader = 88;
  constexpr size_t kChecked = 80;
  if (index.size() < kHeader) return;
  const uint64_t left = index.size() - kHeader;
  const auto count = [&](size_t field) { return get<uint64_t>(index, field * 8) % (left + 1); };
  const uint64_t resident = count(4) * 8 + count(5) * 16 + count(6) * 8;
  if (resident > left) return;
  for (const size_t field : {4, 5, 6}) put(index, field * 8, count(field));
  const std::string_view all(index);
  put(index, kChecked, uint64_t{store::crc32c(all.substr(kHeader, resident), store::crc32c(all.substr(0, kChecked)))});
}

}  // namespace hodei::fuzz

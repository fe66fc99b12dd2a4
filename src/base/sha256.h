// SHA-256, for keeping secrets (tokens, session ids) only as hashes, for keys made from a secret, and for the checksums
// of artifacts. Everything else uses hash.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/hash.h"

namespace hodei {

std::array<uint8_t, 32> sha256(std::string_view data);

using Sha256State = std::array<uint32_t, 8>;

// RFC 2104: codes that only who has the key can make.
class HmacSha256 {
 public:
  explicit HmacSha256(std::string_view key);
  std::array<uint8_t, 32> operator()(std::string_view data) const;

 private:
  Sha256State inner_, outer_;  // the key is in both already
};

// The same for what comes in pieces.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view piece);
  std::string hex() const;  // of all that was added

 private:
  Sha256State state_;
  std::string rest_;  // less than a block
  uint64_t size_ = 0;
};

// The first half: enough for a random token, and small as a key.
Hash128 secret_hash(std::string_view secret);

}  // namespace hodei

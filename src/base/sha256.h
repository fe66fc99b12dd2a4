// SHA-256, for keeping secrets (tokens, session ids) only as hashes, and for keys made from a secret. Everything else uses
// hash.h.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "src/base/hash.h"

namespace hodei {

std::array<uint8_t, 32> sha256(std::string_view data);
std::array<uint8_t, 32> hmac_sha256(std::string_view key, std::string_view data);   // RFC 2104

// The first half: enough for a random token, and small as a key.
Hash128 secret_hash(std::string_view secret);

}  // namespace hodei

// The server's key: 32 bytes that everything sealed depends on. Given in a file or the environment; otherwise made once
// in the data folder, so that nothing has to be set up first.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hodei::server {

using SecretKey = std::array<uint8_t, 32>;

struct KeySource {
  std::string text;  // 64 hexadecimal digits or 44 characters of base64; empty: see file
  std::string file;  // holds the same; empty: `secret.key` in the data folder, made when it is missing
  std::string data_dir;
};

absl::StatusOr<SecretKey> find_key(const KeySource& source);

// What `text` says; nothing else may stand around it but white space.
absl::StatusOr<SecretKey> parse_key(std::string_view text);

}  // namespace hodei::server

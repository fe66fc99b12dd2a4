// Seals values so that only this server's key opens them: AES-256-GCM with a fresh nonce each time. What a value
// belongs to is part of the seal: bytes that were moved to another name or namespace do not open.
//
// Sealed bytes: version (1), the key's id (8), nonce (12), the encrypted value, tag (16).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "src/server/secrets/key.h"

namespace hodei::server {

struct SealedFor {
  enum class Purpose : uint8_t { Store = 1, Job = 2 };
  std::string_view ns;
  std::string_view name;
  Purpose purpose = Purpose::Store;
};

class Vault {
 public:
  explicit Vault(const SecretKey& key);

  std::string seal(const SealedFor& what, std::string_view value) const;
  // FAILED_PRECONDITION: sealed with another key. DATA_LOSS: damaged, or of something else.
  absl::StatusOr<std::string> open(const SealedFor& what, std::string_view sealed) const;

  bool is_mine(std::string_view sealed) const;
  // How long the value inside is.
  static size_t value_size(std::string_view sealed);

 private:
  SecretKey key_;
  std::string id_;  // of the key: tells keys apart and says nothing about them
};

}  // namespace hodei::server

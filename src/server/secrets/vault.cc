#include "src/server/secrets/vault.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <memory>

#include "src/base/codec.h"
#include "src/base/sha256.h"
#include "src/base/status.h"

namespace hodei::server {
namespace {

constexpr char kSealVersion = 1;
constexpr size_t kIdBytes = 8;
constexpr size_t kNonceBytes = 12;
constexpr size_t kTagBytes = 16;
constexpr size_t kNonceAt = 1 + kIdBytes;
constexpr size_t kValueAt = kNonceAt + kNonceBytes;
constexpr size_t kOverhead = kValueAt + kTagBytes;

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

Cipher new_cipher() { return Cipher(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free); }

const uint8_t* bytes(std::string_view text) { return reinterpret_cast<const uint8_t*>(text.data()); }

std::string associated(const SealedFor& what) {
  Encoder out;
  out.text(what.ns).text(what.name).u64(static_cast<uint64_t>(what.purpose));
  return out.take();
}

}  // namespace

Vault::Vault(const SecretKey& key) : key_(key) {
  const std::string_view text(reinterpret_cast<const char*>(key_.data()), key_.size());
  const auto digest = sha256(cat("hodei secret key id ", text));
  id_.assign(reinterpret_cast<const char*>(digest.data()), kIdBytes);
}

std::string Vault::seal(const SealedFor& what, std::string_view value) const {
  uint8_t nonce[kNonceBytes];
  HODEI_CHECK(RAND_bytes(nonce, sizeof(nonce)) == 1);
  std::string out(1, kSealVersion);
  out += id_;
  out.append(reinterpret_cast<const char*>(nonce), kNonceBytes);
  out.resize(kOverhead + value.size());
  auto* at = reinterpret_cast<uint8_t*>(out.data()) + kValueAt;
  const std::string belongs = associated(what);
  const Cipher cipher = new_cipher();
  int length = 0;
  const bool sealed =
      EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key_.data(), nonce) == 1 &&
      EVP_EncryptUpdate(cipher.get(), nullptr, &length, bytes(belongs), static_cast<int>(belongs.size())) == 1 &&
      EVP_EncryptUpdate(cipher.get(), at, &length, bytes(value), static_cast<int>(value.size())) == 1 &&
      EVP_EncryptFinal_ex(cipher.get(), at + length, &length) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, at + value.size()) == 1;
  HODEI_CHECK(sealed);
  return out;
}

bool Vault::is_mine(std::string_view sealed) const {
  return sealed.size() >= kOverhead && sealed[0] == kSealVersion && sealed.substr(1, kIdBytes) == id_;
}

size_t Vault::value_size(std::string_view sealed) { return sealed.size() < kOverhead ? 0 : sealed.size() - kOverhead; }

absl::StatusOr<std::string> Vault::open(const SealedFor& what, std::string_view sealed) const {
  if (sealed.size() < kOverhead || sealed[0] != kSealVersion) {
    return absl::DataLossError(cat("secret '", what.name,
                                   "' is stored in a format this server does not know; set it again "
                                   "with `hodei secret set ",
                                   what.name, "`"));
  }
  if (!is_mine(sealed)) {
    return absl::FailedPreconditionError(
        cat("secret '", what.name,
            "' was encrypted with a different key; start the server with that key "
            "(secret_key_file or HODEI_SECRET_KEY), or set the secret again with `hodei secret set ",
            what.name, "`"));
  }
  std::string value(value_size(sealed), '\0');
  auto* at = reinterpret_cast<uint8_t*>(value.data());
  uint8_t none = 0;
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  const std::string belongs = associated(what);
  const Cipher cipher = new_cipher();
  int length = 0;
  const bool opened =
      EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key_.data(), bytes(sealed.substr(kNonceAt))) == 1 &&
      EVP_DecryptUpdate(cipher.get(), nullptr, &length, bytes(belongs), static_cast<int>(belongs.size())) == 1 &&
      EVP_DecryptUpdate(cipher.get(), at, &length, bytes(sealed.substr(kValueAt)), static_cast<int>(value.size())) ==
          1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(cipher.get(), value.empty() ? &none : at + length, &length) == 1;
  if (!opened)
    return absl::DataLossError(
        cat("secret '", what.name, "' is damaged or was stored for another purpose; set it again"));
  return value;
}

}  // namespace hodei::server

#include "src/server/secrets/key.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/base/status.h"

namespace hodei::server {
namespace {

constexpr size_t kLongestFile = 4096;
constexpr size_t kHexLength = 64;
constexpr size_t kBase64Length = 44;

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool from_hex(std::string_view text, SecretKey& key) {
  for (size_t i = 0; i < key.size(); ++i) {
    const int high = digit(text[2 * i]);
    const int low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    key[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return true;
}

bool from_base64(std::string_view text, SecretKey& key) {
  uint8_t out[48];
  const int got = EVP_DecodeBlock(out, reinterpret_cast<const uint8_t*>(text.data()), static_cast<int>(text.size()));
  if (got != 33 || text.back() != '=') return false;  // 32 bytes and the padding, read as one more
  std::memcpy(key.data(), out, key.size());
  return true;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

absl::StatusOr<std::string> read_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, path);
  std::string text(kLongestFile, '\0');
  const ssize_t got = read(fd, text.data(), text.size());
  const int why = errno;
  close(fd);
  if (got < 0) return absl::ErrnoToStatus(why, path);
  text.resize(static_cast<size_t>(got));
  return text;
}

absl::Status make_file(const std::string& path, const std::string& folder) {
  uint8_t bytes[32];
  if (RAND_bytes(bytes, sizeof(bytes)) != 1)
    return absl::InternalError("cannot get random bytes for a key from the system");
  std::string text;
  for (const uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  text += '\n';
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return absl::ErrnoToStatus(errno, "making " + path);
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(fd) == 0;
  const int why = errno;
  close(fd);
  if (!written) {
    unlink(path.c_str());
    return absl::ErrnoToStatus(why, "writing " + path);
  }
  // What is sealed with it must not outlive it: the name is made durable too.
  const int dir = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir >= 0) {
    fsync(dir);
    close(dir);
  }
  return absl::OkStatus();
}

absl::StatusOr<SecretKey> key_in_file(const std::string& path) {
  const absl::StatusOr<std::string> text = read_file(path);
  if (!text.ok()) {
    return absl::InvalidArgumentError(cat("secret_key_file: cannot read ", path, ": ",
                                          std::string(text.status().message()),
                                          "; create one with: openssl rand -hex 32 > ", path));
  }
  const absl::StatusOr<SecretKey> key = parse_key(*text);
  if (!key.ok()) return bad_field("secret_key_file", path, " ", std::string(key.status().message()));
  return key;
}

}  // namespace

absl::StatusOr<SecretKey> parse_key(std::string_view text) {
  text = trimmed(text);
  SecretKey key;
  if (text.size() == kHexLength && from_hex(text, key)) return key;
  if (text.size() == kBase64Length && from_base64(text, key)) return key;
  return absl::InvalidArgumentError(
      "does not contain a 32-byte key as 64 hexadecimal digits or base64; create one with "
      "`openssl rand -hex 32`");
}

absl::StatusOr<SecretKey> find_key(const KeySource& source) {
  if (!source.text.empty()) {
    const absl::StatusOr<SecretKey> key = parse_key(source.text);
    if (!key.ok()) return bad_field("HODEI_SECRET_KEY", std::string(key.status().message()));
    return key;
  }
  if (!source.file.empty()) return key_in_file(source.file);
  const std::string path = source.data_dir + "/secret.key";
  if (access(path.c_str(), F_OK) != 0) RETURN_IF_ERROR(make_file(path, source.data_dir));
  return key_in_file(path);
}

}  // namespace hodei::server

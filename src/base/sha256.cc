#include "src/base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "fmt/format.h"

namespace hodei {
namespace {

constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void compress(Sha256State& h, const uint8_t* block) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i) {
    w[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 | uint32_t{block[4 * i + 2]} << 8 |
           block[4 * i + 3];
  }
  for (int i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  uint32_t v[8];
  std::memcpy(v, h.data(), sizeof v);
  for (int i = 0; i < 64; ++i) {
    const uint32_t s1 = std::rotr(v[4], 6) ^ std::rotr(v[4], 11) ^ std::rotr(v[4], 25);
    const uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + kRound[i] + w[i];
    const uint32_t s0 = std::rotr(v[0], 2) ^ std::rotr(v[0], 13) ^ std::rotr(v[0], 22);
    const uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    for (int j = 7; j > 0; --j) v[j] = v[j - 1];
    v[4] += t1;
    v[0] = t1 + t2;
  }
  for (int i = 0; i < 8; ++i) h[i] += v[i];
}

constexpr size_t kBlock = 64;
constexpr Sha256State kStart = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

// The end of a hash: `rest` is what follows the `before` bytes (whole blocks) that `state` has taken.
std::array<uint8_t, 32> finish(Sha256State state, std::string_view rest, uint64_t before) {
  const uint64_t bits = (before + rest.size()) * 8;
  for (; rest.size() >= kBlock; rest.remove_prefix(kBlock))
    compress(state, reinterpret_cast<const uint8_t*>(rest.data()));
  uint8_t last[2 * kBlock] = {};
  if (!rest.empty()) std::memcpy(last, rest.data(), rest.size());
  last[rest.size()] = 0x80;
  const size_t size = rest.size() + 9 > kBlock ? 2 * kBlock : kBlock;
  for (size_t i = 0; i < 8; ++i) last[size - 1 - i] = static_cast<uint8_t>(bits >> (8 * i));
  for (size_t at = 0; at < size; at += kBlock) compress(state, last + at);
  std::array<uint8_t, 32> out;
  for (size_t i = 0; i < 32; ++i) out[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return out;
}

std::string_view text(const std::array<uint8_t, 32>& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

}  // namespace

std::array<uint8_t, 32> sha256(std::string_view data) { return finish(kStart, data, 0); }

HmacSha256::HmacSha256(std::string_view key) : inner_(kStart), outer_(kStart) {
  std::array<uint8_t, 32> hashed;
  if (key.size() > kBlock) {
    hashed = sha256(key);
    key = text(hashed);
  }
  uint8_t inner[kBlock], outer[kBlock];
  for (size_t i = 0; i < kBlock; ++i) {
    const uint8_t byte = i < key.size() ? static_cast<uint8_t>(key[i]) : 0;
    inner[i] = byte ^ 0x36;
    outer[i] = byte ^ 0x5c;
  }
  compress(inner_, inner);
  compress(outer_, outer);
}

std::array<uint8_t, 32> HmacSha256::operator()(std::string_view data) const {
  return finish(outer_, text(finish(inner_, data, kBlock)), kBlock);
}

Sha256::Sha256() : state_(kStart) {}

void Sha256::add(std::string_view piece) {
  size_ += piece.size();
  if (!rest_.empty()) {
    const size_t missing = std::min(kBlock - rest_.size(), piece.size());
    rest_ += piece.substr(0, missing);
    piece.remove_prefix(missing);
    if (rest_.size() < kBlock) return;
    compress(state_, reinterpret_cast<const uint8_t*>(rest_.data()));
    rest_.clear();
  }
  for (; piece.size() >= kBlock; piece.remove_prefix(kBlock))
    compress(state_, reinterpret_cast<const uint8_t*>(piece.data()));
  rest_ = piece;
}

std::string Sha256::hex() const {
  std::string out;
  for (const uint8_t byte : finish(state_, rest_, size_ - rest_.size()))
    fmt::format_to(std::back_inserter(out), "{:02x}", byte);
  return out;
}

Hash128 secret_hash(std::string_view secret) {
  const std::array<uint8_t, 32> full = sha256(secret);
  Hash128 out;
  for (size_t i = 0; i < 8; ++i) {
    out.high = out.high << 8 | full[i];
    out.low = out.low << 8 | full[i + 8];
  }
  return out;
}

}  // namespace hodei

// A compact binary form for small structs that live inside one column or message: varints and length-prefixed strings.
// Readers accept what older writers wrote: missing trailing fields read as zero.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hodei {

class Encoder {
 public:
  Encoder() { out_.reserve(kUsualSize); }
  Encoder& u64(uint64_t v) {
    while (v >= 0x80) {
      out_.push_back(static_cast<char>(v | 0x80));
      v >>= 7;
    }
    out_.push_back(static_cast<char>(v));
    return *this;
  }
  Encoder& i64(int64_t v) { return u64(static_cast<uint64_t>(v) << 1 ^ static_cast<uint64_t>(v >> 63)); }
  Encoder& text(std::string_view s) {
    u64(s.size());
    out_.append(s);
    return *this;
  }
  std::string take() { return std::move(out_); }
  const std::string& bytes() const { return out_; }

 private:
  // Growing in small steps would cost more than all the rest.
  static constexpr size_t kUsualSize = 160;
  std::string out_;
};

// Reads past the end give zeros and clear ok(); no read ever goes out of bounds.
class Decoder {
 public:
  explicit Decoder(std::string_view in) : in_(in) {}

  uint64_t u64() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (in_.empty()) return fail();
      const auto byte = static_cast<unsigned char>(in_[0]);
      in_.remove_prefix(1);
      v |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return v;
    }
    return fail();
  }
  int64_t i64() {
    const uint64_t v = u64();
    return static_cast<int64_t>(v >> 1 ^ (~(v & 1) + 1));
  }
  std::string_view text() {
    const uint64_t size = u64();
    if (size > in_.size()) {
      fail();
      return {};
    }
    const std::string_view out = in_.substr(0, size);
    in_.remove_prefix(size);
    return out;
  }
  // A count of things that follow; never more than the bytes that are left could hold.
  uint64_t count() {
    const uint64_t n = u64();
    return n <= in_.size() ? n : fail();
  }
  bool done() const { return in_.empty(); }
  bool ok() const { return ok_; }

 private:
  uint64_t fail() {
    ok_ = false;
    in_ = {};
    return 0;
  }
  std::string_view in_;
  bool ok_ = true;
};

}  // namespace hodei

// A job that prints much. What it prints follows from its arguments alone, so that whoever reads it can compare.
//
// usage: hodei-flood lines|line|binary BYTES
//
//   lines    short lines of letters
//   line     one line of letters without an end
//   binary   any bytes, NUL and broken UTF-8 among them
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr size_t kBlock = 64 << 10;
constexpr size_t kLine = 100;

uint64_t next(uint64_t& state) {  // xorshift
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

bool write_all(const char* data, size_t size) {
  while (size > 0) {
    const ssize_t wrote = write(STDOUT_FILENO, data, size);
    if (wrote <= 0) return false;
    data += wrote;
    size -= static_cast<size_t>(wrote);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bool lines = argc == 3 && std::strcmp(argv[1], "lines") == 0;
  const bool binary = argc == 3 && std::strcmp(argv[1], "binary") == 0;
  if (argc != 3 || !(lines || binary || std::strcmp(argv[1], "line") == 0)) {
    std::fprintf(stderr, "usage: %s lines|line|binary BYTES\n", argv[0]);
    return 2;
  }
  static char block[kBlock];
  uint64_t random = 88172645463325252ull;
  const uint64_t size = std::strtoull(argv[2], nullptr, 10);
  for (uint64_t at = 0; at < size; at += kBlock) {
    for (size_t i = 0; i < kBlock; i += sizeof(uint64_t)) {
      uint64_t eight = next(random);
      if (!binary) eight = (eight & 0x0f0f0f0f0f0f0f0full) + 0x6161616161616161ull;  // a … p
      std::memcpy(block + i, &eight, sizeof(eight));
    }
    for (size_t i = 0; lines && i < kBlock; ++i) {
      if ((at + i) % kLine == kLine - 1) block[i] = '\n';
    }
    if (!write_all(block, static_cast<size_t>(std::min<uint64_t>(kBlock, size - at)))) return 1;
  }
  return 0;
}

#include "src/base/random.h"

#include <sys/random.h>

#include <array>
#include <utility>

#include "fmt/format.h"
#include "src/base/status.h"

namespace hodei {

// The system is asked for many at once: a call for each would be the dearest part of a small submission.
uint64_t random_u64() {
  thread_local std::array<uint64_t, 32> pool;  // 256 bytes are never given in parts
  thread_local size_t left = 0;
  if (left == 0) {
    HODEI_CHECK(getrandom(pool.data(), sizeof pool, 0) == sizeof pool);
    left = pool.size();
  }
  return std::exchange(pool[--left], 0);
}

std::string random_uuid() {
  const uint64_t high = (random_u64() & ~uint64_t{0xf000}) | 0x4000;
  const uint64_t low = (random_u64() & ~(uint64_t{3} << 62)) | uint64_t{1} << 63;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xffff, high & 0xffff, low >> 48,
                     low & 0xffffffffffff);
}

}  // namespace hodei

#include "src/base/random.h"

#include <sys/random.h>

#include "fmt/format.h"
#include "src/base/status.h"

namespace hodei {

uint64_t random_u64() {
  uint64_t value = 0;
  HODEI_CHECK(getrandom(&value, sizeof value, 0) == sizeof value);
  return value;
}

std::string random_uuid() {
  const uint64_t high = (random_u64() & ~uint64_t{0xf000}) | 0x4000;
  const uint64_t low = (random_u64() & ~(uint64_t{3} << 62)) | uint64_t{1} << 63;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xffff, high & 0xffff, low >> 48,
                     low & 0xffffffffffff);
}

}  // namespace hodei

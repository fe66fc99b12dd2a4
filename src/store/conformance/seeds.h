// Which seeds a random test tries: the usual number from 1 on, or what the environment says for a long run.
//
//   HODEI_SEEDS       how many
//   HODEI_FIRST_SEED  from which one on
#pragma once

#include <cstdint>
#include <cstdlib>

namespace hodei::store {

struct SeedRange {
  uint64_t first;
  uint64_t end;  // behind the last
};

inline SeedRange seeds_from_environment(uint64_t usual) {
  const auto number = [](const char* name, uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
  };
  const uint64_t first = number("HODEI_FIRST_SEED", 1);
  return {first, first + number("HODEI_SEEDS", usual)};
}

}  // namespace hodei::store

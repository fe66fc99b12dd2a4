#include "src/providers/installation_mark.h"

#include "src/base/sha256.h"

namespace hodei::providers {

std::string installation_mark(std::string_view installation_id) {
  constexpr size_t kDigits = 8;
  Sha256 hash;
  hash.add(installation_id);
  return hash.hex().substr(0, kDigits);
}

}  // namespace hodei::providers

#include "src/base/status.h"

#include <cstdio>
#include <cstdlib>

namespace hodei {

void abort_loudly(std::string_view what, const char* file, int line) {
  std::fprintf(stderr, "hodei: invariant broken at %s:%d: %.*s\n", file, line, static_cast<int>(what.size()),
               what.data());
  std::abort();
}

}  // namespace hodei

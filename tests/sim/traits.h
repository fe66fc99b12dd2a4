// How a pretended job behaves wherever it runs. Kept in the stored bytes of its spec, as a real one is, so that a
// worker learns of it only through the store.
#pragma once

#include <string>
#include <string_view>

#include "src/base/codec.h"
#include "src/base/time.h"

namespace hodei::sim {

struct Traits {
  bool endless = false;  // ends only when somebody ends it
  Duration timeout{0};
  Duration grace{0};
};

inline std::string encode(const Traits& traits) {
  Encoder out;
  out.u64(traits.endless).i64(traits.timeout.count()).i64(traits.grace.count());
  return out.take();
}

inline Traits decode_traits(std::string_view bytes) {
  Decoder in(bytes);
  Traits traits;
  traits.endless = in.u64() != 0;
  traits.timeout = Duration(in.i64());
  traits.grace = Duration(in.i64());
  return traits;
}

}  // namespace hodei::sim

// The log of the worker: what happened, to which execution, and why.
#pragma once

#include "src/base/journal.h"

namespace hodei::worker {

template <class... Parts>
void say(const Parts&... parts) {
  journal(Level::Info, "worker", parts...);
}

}  // namespace hodei::worker

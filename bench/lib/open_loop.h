// Calls at given times, whether or not earlier ones have ended: what a latency under load is measured with.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "bench/lib/closed_loop.h"

namespace hodei::bench {

// `per_second` 0: idle; one call at a time, a moment after `ended` has grown by the one before. Returns when every call
// is answered; a refused call ends the program.
void open_loop(double per_second, Bound bound, const std::atomic<int64_t>& ended,
               const std::function<void(Done)>& start);

}  // namespace hodei::bench

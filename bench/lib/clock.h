// Measuring is what a benchmark is for; nothing decides by these clocks. CLOCK_MONOTONIC, because the programs that are
// started, and the peers in other languages, read the same one.
#pragma once

#include <cstdint>
#include <ctime>

namespace hodei::bench {

inline int64_t mono_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// Of this thread: what something costs even when other programs want the machine.
inline int64_t cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

inline double seconds_since(int64_t start_ns) { return static_cast<double>(mono_ns() - start_ns) / 1e9; }

inline void pause_ns(int64_t ns) {
  const timespec pause{ns / 1'000'000'000, ns % 1'000'000'000};
  nanosleep(&pause, nullptr);
}

inline void pause_until_ns(int64_t at_ns) {
  const timespec at{at_ns / 1'000'000'000, at_ns % 1'000'000'000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

}  // namespace hodei::bench

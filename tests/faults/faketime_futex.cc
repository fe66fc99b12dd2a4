// Completes libfaketime for programs that use abseil: its waits hand the kernel an absolute wall-clock time. Under
// libfaketime that time is of the faked clock and the kernel's clock is not faked, so that a wait of a millisecond
// would last as long as the clock has jumped, which no real jump does. Preloaded behind libfaketime, this translates
// it.
#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include <cstdarg>
#include <cstdint>
#include <ctime>

namespace {

using Syscall = long (*)(long, ...);

Syscall real_syscall() {
  static const auto found = reinterpret_cast<Syscall>(dlsym(RTLD_NEXT, "syscall"));
  return found;
}

timespec in_the_kernels_time(timespec deadline) {
  timespec faked{}, real{};
  clock_gettime(CLOCK_REALTIME, &faked);
  real_syscall()(SYS_clock_gettime, CLOCK_REALTIME, &real);
  const int64_t jump_ns = (int64_t{faked.tv_sec} - real.tv_sec) * 1'000'000'000 + faked.tv_nsec - real.tv_nsec;
  int64_t ns = int64_t{deadline.tv_sec} * 1'000'000'000 + deadline.tv_nsec - jump_ns;
  if (ns < 0) ns = 0;
  return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
}

}  // namespace

extern "C" long syscall(long number, ...) noexcept {
  long a[6];
  va_list list;
  va_start(list, number);
  for (long& each : a) each = va_arg(list, long);
  va_end(list);
  if (number != SYS_futex || (a[1] & FUTEX_CLOCK_REALTIME) == 0 || a[3] == 0) {
    return real_syscall()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  }
  const timespec deadline = in_the_kernels_time(*reinterpret_cast<const timespec*>(a[3]));
  return real_syscall()(number, a[0], a[1], a[2], &deadline, a[4], a[5]);
}

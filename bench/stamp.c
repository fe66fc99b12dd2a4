// A job that says when it began: appends "asked started" to a file, both in nanoseconds of CLOCK_MONOTONIC.
//   bench-stamp FILE ASKED
// In C, so that it loads no more libraries than /bin/true does.
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char** argv) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (argc != 3) return 2;
  char line[100];
  const int length = snprintf(line, sizeof line, "%s %lld\n", argv[2], now.tv_sec * 1000000000LL + now.tv_nsec);
  const int file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
  return file >= 0 && write(file, line, (size_t)length) == length ? 0 : 1;
}

// A job that prints: so many lines of 80 bytes, newline included, as fast as they are taken.
//   bench-lines COUNT
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kLine = 80, kLines = 800 };  // 64,000 bytes a write

int main(int argc, char** argv) {
  static char block[kLine * kLines];
  memset(block, 'x', sizeof block);
  for (int i = 1; i <= kLines; ++i) block[i * kLine - 1] = '\n';
  for (long long left = argc > 1 ? atoll(argv[1]) : 0; left > 0;) {
    const size_t size = (size_t)(left < kLines ? left : kLines) * kLine;
    for (size_t at = 0; at < size;) {
      const ssize_t n = write(STDOUT_FILENO, block + at, size - at);
      if (n <= 0) return 1;
      at += (size_t)n;
    }
    left -= (long long)(size / kLine);
  }
  return 0;
}

// A job that forks as fast as it can and does not want to die: every process ignores SIGTERM and forks on, and some
// leave their session. Tells on stdout, once, how many there were when the system first refused another one.
//
// usage: hodei-fork-bomb MOST        MOST: a bomb for a test stops there by itself, in case nothing else stops it
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

constexpr int kLeaves = 10;        // every so many processes one leaves its session
constexpr int kRetryUs = 200'000;  // shells wait even longer before they try again

// In memory that all of them share.
struct Count {
  std::atomic<int> alive{1};
  std::atomic<bool> refused{false};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s MOST\n", argv[0]);
    return 2;
  }
  const int most = std::atoi(argv[1]);
  void* memory = mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  Count& count = *new (memory) Count;
  std::signal(SIGTERM, SIG_IGN);
  while (true) {
    if (count.alive.load() >= most) {
      if (!count.refused.exchange(true)) dprintf(STDOUT_FILENO, "nothing stopped it at %d\n", most);
      pause();
    }
    ++count.alive;
    const pid_t child = fork();
    if (child == 0) {
      if (count.alive.load() % kLeaves == 0) setsid();
    } else if (child < 0) {
      const int others = --count.alive;
      if (!count.refused.exchange(true)) dprintf(STDOUT_FILENO, "refused at %d\n", others);
      usleep(kRetryUs);
    }
  }
}

#include "tests/sim/fleet.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>

#include "src/base/text.h"

namespace hodei::sim {
namespace {

constexpr size_t kMaxProcesses = 64;
constexpr size_t kMaxFailures = 1024;
constexpr size_t kWords = 500;

// What the processes share. Seeds are handed out one by one, so that a slow one holds up nobody.
struct Board {
  struct Entry {
    uint64_t seed = 0;
    char what[kWords] = {};
  };
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> done{0};
  std::atomic<uint64_t> jobs{0};
  std::atomic<uint64_t> failed{0};
  std::atomic<uint64_t> at[kMaxProcesses] = {};  // the seed that each process is at, plus one by index
  Entry failures[kMaxFailures];

  void fail(uint64_t seed, const std::string& what) {
    const uint64_t place = failed.fetch_add(1);
    if (place >= kMaxFailures) return;
    failures[place].seed = seed;
    std::snprintf(failures[place].what, kWords, "%s", what.c_str());
  }
};

void work(Board& board, size_t me, const std::vector<uint64_t>& seeds, Options options, uint64_t stop_at) {
  for (uint64_t i; board.failed < stop_at && (i = board.next.fetch_add(1)) < seeds.size();) {
    board.at[me] = i + 1;
    options.seed = seeds[i];
    const Outcome outcome = simulate(options);
    board.jobs += outcome.jobs;
    ++board.done;
    if (!outcome.failure.empty()) board.fail(options.seed, outcome.failure);
    board.at[me] = 0;
  }
}

pid_t start(Board& board, size_t me, const std::vector<uint64_t>& seeds, const Options& options, uint64_t stop_at) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  work(board, me, seeds, options, stop_at);
  std::fflush(nullptr);
  _exit(0);
}

}  // namespace

Tally run_fleet(const std::vector<uint64_t>& seeds, const Options& options, uint64_t processes, uint64_t stop_at) {
  void* shared = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) std::abort();
  Board& board = *new (shared) Board;
  stop_at = std::clamp<uint64_t>(stop_at, 1, kMaxFailures);
  if (processes == 0) work(board, 0, seeds, options, stop_at);
  std::map<pid_t, size_t> running;
  for (size_t i = 0; i < std::min<uint64_t>(processes, kMaxProcesses); ++i)
    running[start(board, i, seeds, options, stop_at)] = i;
  while (!running.empty()) {
    int status = 0;
    const pid_t ended = wait(&status);
    const auto it = running.find(ended);
    if (it == running.end()) break;
    const size_t place = it->second;
    running.erase(it);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    if (const uint64_t at = board.at[place].exchange(0); at != 0) {
      ++board.done;
      board.fail(seeds[at - 1], cat("the simulator ended by itself, status ", status));
    }
    running[start(board, place, seeds, options, stop_at)] = place;
  }
  Tally tally;
  tally.seeds = board.done;
  tally.jobs = board.jobs;
  for (size_t i = 0; i < std::min<uint64_t>(board.failed, kMaxFailures); ++i) {
    tally.failures.push_back({board.failures[i].seed, board.failures[i].what});
  }
  std::sort(tally.failures.begin(), tally.failures.end(),
            [](const Failure& a, const Failure& b) { return a.seed < b.seed; });
  munmap(shared, sizeof(Board));
  return tally;
}

}  // namespace hodei::sim

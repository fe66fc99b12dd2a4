// hodei-sim: runs seeds of the simulator. A seed that fails is printed and replays exactly.
//   hodei-sim --seeds N [--from S] [--digest-every N] [--stop-at FAILURES]
//   hodei-sim --seed S [--trace]
//   hodei-sim --kept FILE      seeds that once found something, one a line, with what it was
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/journal.h"
#include "tests/sim/simulation.h"

namespace {

uint64_t number_after(int argc, char** argv, int& i) {
  if (i + 1 >= argc) {
    std::fprintf(stderr, "hodei-sim: %s needs a number\n", argv[i]);
    std::exit(2);
  }
  return std::strtoull(argv[++i], nullptr, 10);
}

std::vector<uint64_t> kept_seeds(const char* path) {
  std::ifstream file(path);
  std::vector<uint64_t> seeds;
  for (std::string line; std::getline(file, line);) {
    if (const uint64_t seed = std::strtoull(line.c_str(), nullptr, 10); seed != 0) seeds.push_back(seed);
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "hodei-sim: no seeds in %s\n", path);
    std::exit(2);
  }
  return seeds;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t from = 1;
  uint64_t seeds = 1000;
  uint64_t stop_at = 10;
  std::vector<uint64_t> kept;
  hodei::sim::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--seeds") {
      seeds = number_after(argc, argv, i);
    } else if (arg == "--from") {
      from = number_after(argc, argv, i);
    } else if (arg == "--seed") {
      from = number_after(argc, argv, i);
      seeds = 1;
    } else if (arg == "--kept" && i + 1 < argc) {
      kept = kept_seeds(argv[++i]);
      seeds = kept.size();
    } else if (arg == "--digest-every") {
      options.digest_every = number_after(argc, argv, i);
    } else if (arg == "--stop-at") {
      stop_at = number_after(argc, argv, i);
    } else if (arg == "--trace") {
      options.trace = true;
    } else {
      std::fprintf(stderr, "usage: hodei-sim [--seeds N] [--from S] [--seed S] [--digest-every N] [--stop-at N] [--kept FILE] [--trace]\n");
      return 2;
    }
  }
  hodei::set_journal_level(hodei::Level::Off);   // failing commits are the point here
  uint64_t jobs = 0;
  int failed = 0;
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < seeds; ++i) {
    const uint64_t seed = kept.empty() ? from + i : kept[i];
    options.seed = seed;
    const hodei::sim::Outcome outcome = hodei::sim::simulate(options);
    jobs += outcome.jobs;
    if (!outcome.failure.empty()) {
      ++failed;
      std::printf("seed %llu: %s\n  again: hodei-sim --seed %llu --trace\n", static_cast<unsigned long long>(seed),
                  outcome.failure.c_str(), static_cast<unsigned long long>(seed));
      if (static_cast<uint64_t>(failed) >= stop_at) break;
    }
  }
  // On stderr: a trace on stdout must be the same bytes every time.
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::fprintf(stderr, "%llu seeds, %llu job lives, %.1f s, %.0f lives/s, %d failed\n",
               static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(jobs), seconds,
               static_cast<double>(jobs) / seconds, failed);
  return failed == 0 ? 0 : 1;
}

// hodei-sim: runs seeds of the simulator. A seed that fails is printed and replays exactly.
//   hodei-sim --seeds N [--from S] [--digest-every N] [--stop-at FAILURES] [--processes N]
//   hodei-sim --seed S [--trace]
//   hodei-sim --without KIND   leaves out one kind of trouble (simulation.h names them); may be given several times
//   hodei-sim --kept FILE      seeds that once found something, one a line, with what it was
// hodei-sim-mutants, the same program over sources with planted faults, also has
//   --mutation NAME            switches one on: seeds are run until one finds it
//   --mutations [NAME…]        all of them, or those named, one after another: each must be found
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "src/base/journal.h"
#include "src/base/text.h"
#include "tests/sim/fleet.h"
#include "tests/sim/simulation.h"
#ifdef HODEI_MUTATIONS
#include "tests/sim/mutation.h"
#include "tests/sim/mutation_names.h"
#endif

namespace hodei::sim {
namespace {

constexpr const char* kUsage =
    "usage: hodei-sim [--seeds N] [--from S] [--seed S] [--digest-every N] [--stop-at N] [--processes N] [--kept FILE] "
    "[--without KIND] [--trace]\n";

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "hodei-sim: %s\n%s", why.c_str(), kUsage);
  std::exit(2);
}

uint64_t trouble(const std::string& name) {
  for (size_t i = 0; i < std::size(kTroubles); ++i) {
    if (kTroubles[i] == name) return uint64_t{1} << i;
  }
  give_up(cat("there is no trouble called ", name));
}

struct Order {
  std::vector<uint64_t> seeds;
  uint64_t stop_at = 10;
  uint64_t processes = std::max(1u, std::thread::hardware_concurrency());
  Options options;
  bool all_mutations = false;
  std::vector<std::string> mutations;
};

std::vector<uint64_t> kept_seeds(const char* path) {
  std::ifstream file(path);
  std::vector<uint64_t> seeds;
  for (std::string line; std::getline(file, line);) {
    if (const uint64_t seed = std::strtoull(line.c_str(), nullptr, 10); seed != 0) seeds.push_back(seed);
  }
  if (seeds.empty()) give_up(cat("no seeds in ", path));
  return seeds;
}

Order read_order(int argc, char** argv) {
  Order order;
  uint64_t from = 1;
  uint64_t count = 1000;
  const auto text = [&](int& i) -> const char* {
    if (i + 1 >= argc) give_up(cat(argv[i], " needs a value"));
    return argv[++i];
  };
  const auto number = [&](int& i) { return std::strtoull(text(i), nullptr, 10); };
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--seeds") {
      count = number(i);
    } else if (arg == "--from") {
      from = number(i);
    } else if (arg == "--seed") {
      from = number(i);
      count = 1;
      order.processes = 0;  // in this process: a debugger follows
    } else if (arg == "--kept") {
      order.seeds = kept_seeds(text(i));
    } else if (arg == "--digest-every") {
      order.options.digest_every = number(i);
    } else if (arg == "--stop-at") {
      order.stop_at = number(i);
    } else if (arg == "--processes") {
      order.processes = number(i);
    } else if (arg == "--without") {
      order.options.without |= trouble(text(i));
    } else if (arg == "--trace") {
      order.options.trace = true;
#ifdef HODEI_MUTATIONS
    } else if (arg == "--mutation") {
      order.mutations.emplace_back(text(i));
    } else if (arg == "--mutations") {
      order.all_mutations = true;
      while (i + 1 < argc && argv[i + 1][0] != '-') order.mutations.emplace_back(argv[++i]);
#endif
    } else {
      give_up(cat("unknown option ", arg));
    }
  }
  if (order.seeds.empty()) {
    for (uint64_t i = 0; i < count; ++i) order.seeds.push_back(from + i);
  }
  return order;
}

// Whether it failed.
bool run_seeds(const Order& order) {
  const auto start = std::chrono::steady_clock::now();
  const Tally tally = run_fleet(order.seeds, order.options, order.processes, order.stop_at);
  for (const Failure& f : tally.failures) {
    const auto seed = static_cast<unsigned long long>(f.seed);
    std::printf("seed %llu: %s\n  again: hodei-sim --seed %llu --trace\n", seed, f.what.c_str(), seed);
  }
  // On stderr: a trace on stdout must be the same bytes every time.
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::fprintf(stderr, "%llu seeds, %llu job lives, %.1f s, %.0f lives/s, %zu failed\n",
               static_cast<unsigned long long>(tally.seeds), static_cast<unsigned long long>(tally.jobs), seconds,
               static_cast<double>(tally.jobs) / seconds, tally.failures.size());
  return !tally.failures.empty();
}

#ifdef HODEI_MUTATIONS
int number_of(const std::string& name) {
  for (size_t i = 0; i < std::size(kMutations); ++i) {
    if (kMutations[i].name == name) return static_cast<int>(i) + 1;
  }
  give_up(cat("there is no mutation ", name, "; see tests/sim/mutations.txt"));
}

// Whether all of them were found.
bool find_mutations(Order order) {
  if (order.mutations.empty()) {
    for (const MutationName& m : kMutations) order.mutations.emplace_back(m.name);
  }
  size_t missed = 0;
  for (const std::string& name : order.mutations) {
    active_mutation = number_of(name);
    const Tally tally = run_fleet(order.seeds, order.options, order.processes, 1);
    if (tally.failures.empty()) {
      ++missed;
      std::printf("%-36s MISSED in %llu seeds: %s\n", name.c_str(), static_cast<unsigned long long>(tally.seeds),
                  kMutations[active_mutation - 1].why);
    } else {
      std::printf("%-36s seed %llu: %s\n", name.c_str(), static_cast<unsigned long long>(tally.failures[0].seed),
                  tally.failures[0].what.c_str());
    }
    std::fflush(stdout);
  }
  std::printf("%zu found, %zu missed\n", order.mutations.size() - missed, missed);
  return missed == 0;
}
#endif

int run(int argc, char** argv) {
  const Order order = read_order(argc, argv);
  set_journal_level(Level::Off);  // failing commits are the point here
#ifdef HODEI_MUTATIONS
  if (order.all_mutations) return find_mutations(order) ? 0 : 1;
  if (!order.mutations.empty()) active_mutation = number_of(order.mutations[0]);
#endif
  return run_seeds(order) ? 1 : 0;
}

}  // namespace
}  // namespace hodei::sim

int main(int argc, char** argv) { return hodei::sim::run(argc, argv); }

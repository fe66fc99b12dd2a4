// Placements a second of the engine alone: no store, no network, one thread, its writes dropped. Figures are by CPU
// time of that thread, so that other programs on the machine do not matter.
//   bench-engine place --workers N --waiting N --shapes N [--keys N] [--seconds N] [--most N]
//
// The queue is filled first. Then, again and again: a running job (drawn at random) is reported as started and as
// ended, the freed slot is given to a waiting job, and a new job is submitted, so the queue keeps its length. One
// placement is these three decisions. With keys, every job has one of so many concurrency keys, each of limit 1.
#include <fstream>
#include <vector>

#include "bench/lib/arguments.h"
#include "bench/lib/clock.h"
#include "bench/lib/facts.h"
#include "src/base/text.h"
#include "src/core/engine.h"
#include "src/core/engine_orders.h"

namespace hodei::bench {
namespace {

using namespace core;

constexpr uint32_t kSlots = 8;
constexpr int64_t kKb = 1024;

int64_t resident_kb() {
  std::ifstream status("/proc/self/status");
  std::string word;
  int64_t kb = 0;
  while (status >> word) {
    if (word == "VmRSS:") status >> kb;
  }
  return kb;
}

class Floor {
 public:
  Floor(int64_t shapes, int64_t keys) : shapes_(shapes), keys_(keys) { engine_.restored(now_); }

  void join(int64_t number) {
    WorkerOrder order = a_worker().slots(kSlots);
    order.info.id = WorkerId(cat("worker-", number));
    const Hash128 token = hash128(cat("token ", number));
    const Hash128 session = hash128(cat("session ", number));
    decide(MakeOtp{token, order.info.id});
    decide(RegisterWorker{token, {}, session, order.info, "incarnation"});
    decide(OpenStream{session, "incarnation", static_cast<uint64_t>(number) + 1, {}});
  }

  void submit() {
    const int64_t n = submitted_++;
    // Each shape asks for its own amount of memory and cores; all of them fit on every worker.
    JobOrder order = a_job().memory(1 + n % shapes_ % 1000).cores(0.001 * static_cast<double>(1 + n % shapes_ / 1000));
    if (keys_ > 0) order.key(cat("key-", n % keys_), 1);
    decide(Submit{{order.made()}});
  }

  // One running job starts and ends.
  void end_one() {
    random_ = mix64(random_);
    std::swap(running_[random_ % running_.size()], running_.back());
    const RunExecution run = running_.back();
    running_.pop_back();
    Report started{.worker = run.worker, .stream = run.stream};
    started.started.push_back({run.execution, now_.wall});
    decide(started);
    Report ended{.worker = run.worker, .stream = run.stream};
    ResultReport result;
    result.execution = run.execution;
    result.outcome = Outcome::Succeeded;
    result.exit_code = 0;
    result.started = result.ended = now_.wall;
    ended.results.push_back(std::move(result));
    decide(ended);
  }

  int64_t placed() const { return placed_; }
  bool idle() const { return running_.empty(); }
  int64_t waiting() const { return engine_.modules().jobs.table.count(JobState::Pending); }

 private:
  void decide(const Command& command) {
    now_ = {now_.wall + 1us, now_.mono + 1us};
    Turn turn;
    const absl::StatusOr<Reply> reply = engine_.decide(command, now_, turn);
    if (!reply.ok()) {
      std::fprintf(stderr, "bench-engine: %s\n", reply.status().ToString().c_str());
      std::_Exit(1);
    }
    for (Effect& effect : turn.effects) {
      if (const auto* run = std::get_if<RunExecution>(&effect)) {
        running_.push_back(*run);
        ++placed_;
      }
    }
  }

  Engine engine_;
  Now now_{{1'800'000'000'000'000}, {1'000'000'000}};
  const int64_t shapes_;
  const int64_t keys_;
  int64_t submitted_ = 0;
  int64_t placed_ = 0;
  std::vector<RunExecution> running_;
  uint64_t random_ = 7;
};

int run(const Arguments& arguments) {
  const int64_t workers = arguments.whole("workers", 100);
  const int64_t waiting = arguments.whole("waiting", 10'000);
  const int64_t before_kb = resident_kb();
  Floor floor(arguments.whole("shapes", 100), arguments.whole("keys", 0));
  for (int64_t n = 0; n < workers; ++n) floor.join(n);

  const int64_t filling = cpu_ns();
  const int64_t jobs = waiting + workers * kSlots;
  for (int64_t n = 0; n < jobs; ++n) floor.submit();
  const double fill_seconds = static_cast<double>(cpu_ns() - filling) / 1e9;
  const int64_t used_kb = resident_kb() - before_kb;

  const int64_t placed_before = floor.placed();
  const int64_t most = placed_before + arguments.whole("most", 5'000'000);
  const double seconds = arguments.number("seconds", 3);
  const int64_t began = mono_ns();
  const int64_t cpu_began = cpu_ns();
  while (!floor.idle() && floor.placed() < most && seconds_since(began) < seconds) {
    for (int i = 0; i < 64 && !floor.idle(); ++i) {
      floor.end_one();
      floor.submit();
    }
  }
  const double took = static_cast<double>(cpu_ns() - cpu_began) / 1e9;
  const int64_t placed = floor.placed() - placed_before;
  Facts()
      .add("per_s", static_cast<double>(placed) / took)
      .add("us_each", 1e6 * took / static_cast<double>(std::max<int64_t>(placed, 1)))
      .add("placed", placed)
      .add("waiting", floor.waiting())
      .add("submitted_per_s", static_cast<double>(jobs) / fill_seconds)
      .add("memory_mb", static_cast<double>(used_kb) / static_cast<double>(kKb))
      .add("bytes_per_job", static_cast<double>(used_kb * kKb) / static_cast<double>(jobs))
      .print();
  return 0;
}

}  // namespace
}  // namespace hodei::bench

int main(int argc, char** argv) { return hodei::bench::run({argc, argv}); }

// For the tests of the loop: a clock moved by hand, a store whose commits can be watched, an outlet that remembers.
#pragma once

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/core/jobs/spec.h"
#include "src/server/loop_core.h"
#include "src/store/memory/memory_leadership.h"
#include "src/store/memory/memory_store.h"

namespace hodei::server {

class SteppedClock final : public Clock {
 public:
  Now now() const override { return {{1'800'000'000'000'000 + elapsed_.count()}, {1'000'000'000 + elapsed_.count()}}; }
  void advance(Duration by) { elapsed_ += by; }

 private:
  Duration elapsed_{0};
};

// The memory store, seen from outside: how many commits were durable, and what each of them did to the clock.
class WatchedStore final : public store::Store {
 public:
  explicit WatchedStore(SteppedClock& clock) : clock_(clock) {}

  absl::StatusOr<store::Epoch> new_epoch() override {
    if (away) return absl::UnavailableError("the store is away");
    return memory.new_epoch();
  }
  absl::StatusOr<store::Epoch> epoch() override {
    if (away) return absl::UnavailableError("the store is away");
    return memory.epoch();
  }
  absl::Status commit(const core::Writes& writes, store::Epoch epoch, store::BatchNo batch) override {
    clock_.advance(commit_takes);
    if (in_commit) in_commit();
    const absl::Status done = memory.commit(writes, epoch, batch);
    durable += done.ok();
    return done;
  }
  absl::StatusOr<store::BatchNo> last_batch() override { return memory.last_batch(); }
  absl::Status load(const store::LoadVisitor& visit) override { return memory.load(visit); }

  store::MemoryStore memory;
  Duration commit_takes{0};
  std::function<void()> in_commit;
  int durable = 0;
  bool away = false;

 private:
  SteppedClock& clock_;
};

// Leadership of a store that nobody else wants, as with a lock.
struct LedStore {
  LedStore(store::Store& store, const Clock& clock)
      : leadership(lease, store, clock), tenure(store, leadership, clock, core::EngineConfig()) {}
  LedStore(store::Store& store, const Clock& clock, store::MemoryLeadership::Options options)
      : leadership(lease, store, clock, std::move(options)), tenure(store, leadership, clock, core::EngineConfig()) {}

  store::MemoryLease lease;
  store::MemoryLeadership leadership;
  Tenure tenure;
};

class RememberingOutlet final : public Outlet {
 public:
  explicit RememberingOutlet(const WatchedStore& store) : store_(store) {}

  void carry_out(const core::Turn& turn, store::Epoch) override {
    if (!turn.effects.empty() && effects.empty()) durable_at_effects = store_.durable;  // when the first ones left
    for (const core::Effect& effect : turn.effects) effects.push_back(effect);
  }
  void forget_streams(const std::string&) override { ++forgotten; }

  std::vector<core::Effect> effects;
  int forgotten = 0;
  int durable_at_effects = -1;

 private:
  const WatchedStore& store_;
};

inline core::NewJob job_order(const std::string& idempotency_key = "") {
  core::JobSpec spec;
  spec.command = core::ShellCommand{"true", {}};
  core::NewJob job;
  job.head = core::head_of(spec);
  job.head.ns = Namespace("default");
  job.spec = std::make_shared<core::SpecRow>();
  job.spec->ns = "default";
  job.spec->bytes = "spec";
  if (!idempotency_key.empty()) job.idempotency = hash128(idempotency_key);
  return job;
}

}  // namespace hodei::server

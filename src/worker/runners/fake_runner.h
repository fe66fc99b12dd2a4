// A runner without processes, for tests: an execution runs until the test ends it.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "src/worker/core/keeper.h"
#include "src/worker/protocol/execution_notes.h"
#include "src/worker/runners/runner.h"

namespace hodei::worker {

// What outlives the runner of one agent.
struct FakeMachine {
  struct Job {
    Held held;
    ExecutionNotes notes;
  };
  std::map<ExecutionId, Job> jobs;
  MonoTime lease_until{0};
};

class FakeRunner final : public Runner {
 public:
  FakeRunner(FakeMachine& machine, NotesByExecution& notes) : machine_(machine), notes_(notes) {
    run::Ready ready;
    for (const auto& [execution, job] : machine_.jobs) {
      if (job.notes != ExecutionNotes{}) notes_[execution] = job.notes;
      ready.held.push_back({.held = job.held, .output = nullptr, .output_is_complete = job.held.ended});
    }
    events.emplace_back(std::move(ready));
  }

  std::vector<int> ready_fds() const override { return {}; }
  void start(Launch launch) override {
    const ExecutionId execution = launch.order.execution;
    if (machine_.jobs.contains(execution)) return;
    FakeMachine::Job& job = machine_.jobs[execution];
    job.held.execution = job.held.exit.execution = execution;
    if (const auto notes = notes_.find(execution); notes != notes_.end()) job.notes = notes->second;
    if (now_.mono >= machine_.lease_until) return finish(execution, KillReason::LeaseExpired);
    job.held.started = true;
    job.held.exit.started = now_.wall;
    events.emplace_back(run::Started{execution, now_.wall, 1, nullptr});
  }
  void end(ExecutionId execution, KillReason why, Duration, Now) override { finish(execution, why); }
  void forget(ExecutionId execution) override { machine_.jobs.erase(execution); }
  void keep_notes(ExecutionId execution) override {
    const auto job = machine_.jobs.find(execution);
    if (job != machine_.jobs.end()) job->second.notes = notes_[execution];
  }
  void extend_lease(MonoTime until) override { machine_.lease_until = until; }
  void connected(const ServerAccess&) override {}
  void disconnected() override {}
  void look(Now now) override { now_ = now; }
  void tick(Now now) override {
    now_ = now;
    if (now.mono < machine_.lease_until) return;
    for (auto& [execution, job] : machine_.jobs) finish(execution, KillReason::LeaseExpired);
  }
  MonoTime next_due() const override { return machine_.jobs.empty() ? kNever : machine_.lease_until; }
  std::vector<run::Event> take_events() override { return std::exchange(events, {}); }
  bool flush() override { return true; }
  bool responds() const override { return true; }
  void beat(Now, bool) override {}

  // The test's side: it ends by itself.
  void exit(ExecutionId execution, int code) {
    FakeMachine::Job& job = machine_.jobs.at(execution);
    if (job.held.ended) return;
    job.held.exit.exit_code = code;
    job.held.exit.outcome = code == 0 ? Outcome::Succeeded : Outcome::Failed;
    tell_end(job);
  }
  std::vector<run::Event> events;

 private:
  void finish(ExecutionId execution, KillReason why) {
    const auto job = machine_.jobs.find(execution);
    if (job == machine_.jobs.end() || job->second.held.ended) return;
    judge(job->second.held.exit, why);
    tell_end(job->second);
  }
  void tell_end(FakeMachine::Job& job) {
    job.held.ended = true;
    job.held.exit.ended = now_.wall;
    events.emplace_back(run::Exited{job.held.exit});
    events.emplace_back(run::Ended{job.held.exit});
  }

  FakeMachine& machine_;
  NotesByExecution& notes_;
  // Clocks are set: 0 would be no time at all.
  Now now_{.wall = WallTime{1}, .mono = MonoTime{1}};
};

}  // namespace hodei::worker

// A runner that passes everything on to another runner. Derived classes override only what they change.
#pragma once

#include <utility>
#include <vector>

#include "src/worker/runners/runner.h"

namespace hodei::worker {

class RunnerAround : public Runner {
 public:
  explicit RunnerAround(Runner& inner) : inner_(inner) {}

  std::vector<int> ready_fds() const override { return inner_.ready_fds(); }
  void start(Launch launch) override { inner_.start(std::move(launch)); }
  void end(ExecutionId execution, KillReason why, Duration grace, Now now) override {
    inner_.end(execution, why, grace, now);
  }
  void forget(ExecutionId execution) override { inner_.forget(execution); }
  void keep_notes(ExecutionId execution) override { inner_.keep_notes(execution); }
  void extend_lease(MonoTime until) override { inner_.extend_lease(until); }
  void connected(const ServerAccess& server) override { inner_.connected(server); }
  void disconnected() override { inner_.disconnected(); }
  void look(Now now) override { inner_.look(now); }
  void tick(Now now) override { inner_.tick(now); }
  MonoTime next_due() const override { return inner_.next_due(); }
  std::vector<run::Event> take_events() override { return inner_.take_events(); }
  bool flush() override { return inner_.flush(); }
  bool responds() const override { return inner_.responds(); }
  void beat(Now now, bool with_usage) override { inner_.beat(now, with_usage); }

 protected:
  Runner& inner() const { return inner_; }

 private:
  Runner& inner_;
};

}  // namespace hodei::worker

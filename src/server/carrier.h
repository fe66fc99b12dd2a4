// Carries out what a durable batch wants: messages to workers (one per worker and turn), events to watchers, ends to
// the log hub. It works on the loop's thread, so it reads nothing: what a message lacks is filled in by whoever writes
// it (order_filler.h).
#pragma once

#include <functional>

#include "src/server/event_hub.h"
#include "src/server/loop_core.h"
#include "src/server/spec_cache.h"
#include "src/server/step_journal.h"
#include "src/server/worker_links.h"

namespace hodei::server {

// What the carrier needs of the log hub.
class LogEnds {
 public:
  virtual ~LogEnds() = default;
  virtual void job_finished(JobId job, uint32_t last_execution) = 0;
  virtual void execution_ended(ExecutionId execution, int64_t log_bytes) = 0;
  virtual void execution_lost(ExecutionId execution) = 0;
};

// What the carrier needs of the provisioner. Called on the loop's thread: nothing here may block.
class WorkerMaker {
 public:
  virtual ~WorkerMaker() = default;
  virtual void create(const core::CreateWorker& wish) = 0;
  virtual void destroy(const core::DestroyWorker& wish) = 0;
  virtual void providers_changed() = 0;  // or forgotten: each is to be looked at, and told of, again
  virtual void registered(const WorkerId& worker) { (void)worker; }
};

// Makes the jobs that modules of the engine ask for, on a thread of its own, and answers the engine with SubmitFor.
class JobPreparer {
 public:
  virtual ~JobPreparer() = default;
  virtual void prepare(const core::PrepareJob& wish) = 0;
};

class Carrier final : public Outlet {
 public:
  Carrier(WorkerLinks& links, EventHub& events, LogEnds& logs) : links_(links), events_(events), logs_(logs) {}

  // Before the loop starts; without one, nobody makes workers.
  void set_maker(WorkerMaker* maker) { maker_ = maker; }
  // Likewise; without one, no module may own jobs.
  void set_preparer(JobPreparer* preparer) { preparer_ = preparer; }
  // Likewise; without one, steps of jobs are not written to the journal.
  void set_journal(StepJournal* journal) { journal_ = journal; }

  void carry_out(const core::Turn& turn, store::Epoch epoch) override;
  // Memory was loaded anew: also what providers had said is forgotten.
  void forget_streams(const std::string& why) override {
    links_.close_all(why);
    if (maker_ != nullptr) maker_->providers_changed();
  }

 private:
  using Messages = std::map<uint64_t, ToWorker>;  // by stream
  void add(const core::Effect& effect, Messages& messages);
  void tell_maker(const core::WorkerRecord& worker);
  void tell_output(const core::JobHead& job);

  WorkerLinks& links_;
  EventHub& events_;
  LogEnds& logs_;
  SpecCache specs_;
  WorkerMaker* maker_ = nullptr;
  JobPreparer* preparer_ = nullptr;
  StepJournal* journal_ = nullptr;
};

}  // namespace hodei::server

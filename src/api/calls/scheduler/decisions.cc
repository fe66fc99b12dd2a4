// SchedulingDecisionStream: every placement from now on.
#include "src/api/calls/event_queue.h"
#include "src/api/calls/scheduler/scheduler_calls.h"
#include "src/api/calls/translate.h"

namespace hodei::api {
namespace {

class DecisionSource final : public Source<v1::SchedulingDecision> {
 public:
  DecisionSource(server::EventHub& events, std::string ns)
      : events_(events), ns_(std::move(ns)), queue_(std::make_shared<EventQueue<core::JobPtr>>()) {}
  ~DecisionSource() override {
    if (watch_ != 0) events_.unwatch(watch_);
  }

  void start(std::function<void()> wake) override {
    queue_->set_wake(std::move(wake));
    watch_ = events_.watch_all([queue = queue_, ns = ns_](const std::shared_ptr<const server::JobEvent>& event) {
      const core::JobHead& job = *event->job;
      if (job.state != core::JobState::Scheduled || event->progress || (!ns.empty() && job.ns.str() != ns)) return;
      queue->push(event->job);
    });
  }

  Next next(v1::SchedulingDecision& out) override {
    const auto taken = queue_->pop();
    if (!taken) return Next::Wait;
    out.Clear();
    to_proto(taken->item->past->executions.back(), taken->item->id, &out);
    return Next::Message;
  }

  absl::Status status() const override { return absl::OkStatus(); }

 private:
  server::EventHub& events_;
  const std::string ns_;
  const std::shared_ptr<EventQueue<core::JobPtr>> queue_;
  uint64_t watch_ = 0;
};

}  // namespace

SourceOr<v1::SchedulingDecision> watch_decisions(const SchedulerPorts& p, const Call&,
                                                 const v1::SchedulingDecisionStreamRequest& in) {
  return std::make_shared<DecisionSource>(p.events, in.namespace_());
}

}  // namespace hodei::api

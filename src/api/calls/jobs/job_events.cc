// ExecutionEventStream: what happens to one job, first the past and then as it happens; or to all jobs of a namespace.
#include <algorithm>
#include <deque>

#include "src/api/calls/event_queue.h"
#include "src/api/calls/jobs/job_calls.h"
#include "src/api/calls/jobs/job_detail.h"
#include "src/api/calls/read_call.h"
#include "src/api/calls/translate.h"

namespace hodei::api {
namespace {

using Event = std::shared_ptr<const server::JobEvent>;
using Messages = std::deque<v1::ExecutionEvent>;

// Of a job's history.
constexpr size_t kToldExecutions = 100;
// Events of one job that nobody has pulled yet.
constexpr size_t kMaxEventsOfJob = 1'000;

v1::ExecutionEvent event_about(const core::JobHead& job) {
  v1::ExecutionEvent out;
  out.set_job_id(public_id(job.id));
  out.set_short_id(short_id(job.id));
  return out;
}

// Transitions from `first` on, except for archived ones; the last of a finished job is final.
void add_transitions(const core::JobHead& job, size_t first, size_t end, Messages& out) {
  const size_t count = core::transition_count(job);
  for (size_t i = first; i < std::min(count, end); ++i) {
    const core::Transition* t = core::find_transition(job, i);
    if (i > 0 && t == nullptr) continue;
    v1::ExecutionEvent event = event_about(job);
    t == nullptr ? submission_to_proto(job, event.mutable_transition())
                 : to_proto(*t, job.id, event.mutable_transition());
    *event.mutable_at() = event.transition().at();
    event.set_final(i + 1 == count && core::is_terminal(job.state));
    out.push_back(std::move(event));
  }
}

// What was archived before the head was read; of very many executions the newest.
void add_archived(const core::JobHead& job, const ExecutionPage& page, Messages& out) {
  const uint32_t in_head =
      job.past == nullptr || job.past->executions.empty() ? 0 : job.past->executions.front().number;
  for (auto one = page.executions.rbegin(); one != page.executions.rend(); ++one) {
    if (one->execution.number >= in_head) break;
    for (const core::Transition& t : one->transitions) {
      v1::ExecutionEvent event = event_about(job);
      to_proto(t, job.id, event.mutable_transition());
      *event.mutable_at() = event.transition().at();
      out.push_back(std::move(event));
    }
  }
}

void add_progress(const core::JobHead& job, WallTime now, Messages& out) {
  v1::ExecutionEvent event = event_about(job);
  set_time(now, event.mutable_at());
  event.mutable_progress()->set_percentage(job.past->progress);
  event.mutable_progress()->set_message(job.past->progress_message);
  out.push_back(std::move(event));
}

void add_gap(int64_t lost, WallTime now, Messages& out) {
  if (lost == 0) return;
  v1::ExecutionEvent event;
  set_time(now, event.mutable_at());
  event.mutable_gap()->set_lost(lost);
  out.push_back(std::move(event));
}

bool take_first(Messages& made, v1::ExecutionEvent& out) {
  if (made.empty()) return false;
  out = std::move(made.front());
  made.pop_front();
  return true;
}

// What has happened to a job until now.
struct JobHistory {
  absl::StatusOr<store::JobView> view = absl::UnknownError("not read yet");
  absl::StatusOr<ExecutionPage> archived = absl::UnknownError("not read yet");
};

// One job: its history from the store, then events. Both tell transitions by their number, so the two cannot overlap.
class JobEventSource final : public Source<v1::ExecutionEvent> {
 public:
  JobEventSource(const JobPorts& p, JobId job) : ports_(p), job_(job), inbox_(std::make_shared<Inbox>()) {}
  ~JobEventSource() override {
    if (watch_ != 0) ports_.events.unwatch(watch_);
  }

  void start(std::function<void()> wake) override {
    inbox_->wake = std::move(wake);
    // Before the history is read: what happens meanwhile waits.
    watch_ = ports_.events.watch_job(job_, [inbox = inbox_](const Event& event) { inbox->push(event); });
    store::Reader& reader = ports_.stored.reader;
    look_up(
        ports_.stored,
        [&reader, job = job_, inbox = inbox_] {
          JobHistory history;
          history.view = reader.job(job);
          history.archived = history.view.ok() ? executions_of(reader, history.view->head, {.limit = kToldExecutions})
                                               : history.view.status();
          inbox->put(std::move(history));
          return absl::OkStatus();
        },
        [inbox = inbox_](const absl::Status& read) {
          if (!read.ok()) inbox->put({read, read});
        });
  }

  Next next(v1::ExecutionEvent& out) override {
    while (!take_first(made_, out)) {
      if (ended_) return Next::End;
      if (!inbox_->pull(*this)) return Next::Wait;
    }
    return Next::Message;
  }

  absl::Status status() const override { return status_; }

 private:
  // What the loop's thread and the reader leave for the pump. It outlives the source: a watcher may be at work.
  struct Inbox {
    std::mutex mutex;  // guards what follows
    std::function<void()> wake;
    std::optional<JobHistory> history;  // until it was pulled
    bool has_history = false;           // it has been read: events may follow
    std::deque<Event> events;

    void push(const Event& event) {
      {
        const std::lock_guard lock(mutex);
        // The newest head has all that the last one had, but for its progress.
        if (events.size() >= kMaxEventsOfJob) events.pop_back();
        events.push_back(event);
      }
      wake();
    }
    void put(JobHistory read) {
      {
        const std::lock_guard lock(mutex);
        history = std::move(read);
        has_history = true;
        std::erase_if(events, [](const Event& early) { return early->progress; });  // it has that
      }
      wake();
    }
    // False: there is nothing now.
    bool pull(JobEventSource& source) {
      std::optional<JobHistory> past;
      Event event;
      {
        const std::lock_guard lock(mutex);
        if (!has_history) return false;
        past = std::exchange(history, std::nullopt);
        if (!past) {
          if (events.empty()) return false;
          event = std::move(events.front());
          events.pop_front();
        }
      }
      past ? source.tell(*past) : source.tell(*event);
      return true;
    }
  };

  void tell(const core::JobHead& job) {
    add_transitions(job, told_, SIZE_MAX, made_);
    told_ = std::max(told_, core::transition_count(job));
    ended_ = ended_ || core::is_terminal(job.state);
  }

  void tell(const JobHistory& past) {
    if (!past.view.ok()) {
      status_ = past.view.status();
      ended_ = true;
      return;
    }
    add_transitions(past.view->head, 0, 1, made_);
    if (past.archived.ok()) add_archived(past.view->head, *past.archived, made_);
    told_ = 1;
    tell(past.view->head);
  }

  void tell(const server::JobEvent& event) {
    if (!event.progress) return tell(*event.job);
    add_progress(*event.job, ports_.stored.clock.now().wall, made_);
  }

  const JobPorts& ports_;
  const JobId job_;
  const std::shared_ptr<Inbox> inbox_;
  uint64_t watch_ = 0;
  // Used by the pump only.
  Messages made_;
  size_t told_ = 0;
  bool ended_ = false;
  absl::Status status_;
};

// All jobs of a namespace, from now on. A client that is too slow is told how much it has missed.
class NamespaceEventSource final : public Source<v1::ExecutionEvent> {
 public:
  NamespaceEventSource(const JobPorts& p, std::string ns)
      : ports_(p), ns_(std::move(ns)), queue_(std::make_shared<EventQueue<Event>>()) {}
  ~NamespaceEventSource() override {
    if (watch_ != 0) ports_.events.unwatch(watch_);
  }

  void start(std::function<void()> wake) override {
    queue_->set_wake(std::move(wake));
    watch_ = ports_.events.watch_all([queue = queue_, ns = ns_](const Event& event) {
      if (!ns.empty() && event->job->ns.str() != ns) return;
      const size_t count = core::transition_count(*event->job);
      const size_t fresh = count > event->first_transition ? count - event->first_transition : 0;
      queue->push(event, event->progress ? 1 : fresh);
    });
  }

  Next next(v1::ExecutionEvent& out) override {
    while (!take_first(made_, out)) {
      const auto taken = queue_->pop();
      if (!taken) return Next::Wait;
      const server::JobEvent& event = *taken->item;
      const WallTime now = ports_.stored.clock.now().wall;
      add_gap(taken->lost, now, made_);
      if (event.progress) {
        add_progress(*event.job, now, made_);
      } else {
        add_transitions(*event.job, event.first_transition, SIZE_MAX, made_);
      }
    }
    return Next::Message;
  }

  absl::Status status() const override { return absl::OkStatus(); }

 private:
  const JobPorts& ports_;
  const std::string ns_;
  const std::shared_ptr<EventQueue<Event>> queue_;
  uint64_t watch_ = 0;
  Messages made_;  // of whoever pulls
};

}  // namespace

SourceOr<v1::ExecutionEvent> watch_executions(const JobPorts& p, const Call&,
                                              const v1::ExecutionEventStreamRequest& in) {
  if (in.job_id().empty()) return std::make_shared<NamespaceEventSource>(p, in.namespace_());
  const absl::StatusOr<JobId> job = parse_job_id(in.job_id());
  if (!job.ok()) return job.status();
  return std::make_shared<JobEventSource>(p, *job);
}

}  // namespace hodei::api

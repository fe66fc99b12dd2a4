#include "src/api/grpc/event_stream.h"

#include "src/api/grpc/job_detail.h"
#include "src/api/grpc/queued_writer.h"
#include "src/api/grpc/translate.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

using Writer = QueuedWriter<v1::ExecutionEvent>;

// Of a job's history: with their transitions they fit into a writer's queue.
constexpr size_t kToldExecutions = 100;

v1::ExecutionEvent event_about(const core::JobHead& job) {
  v1::ExecutionEvent out;
  out.set_job_id(public_id(job.id));
  out.set_short_id(short_id(job.id));
  return out;
}

// Transitions from `first` on, but for those on the shelf; the last of a finished job is final.
void push_transitions(Writer& writer, const core::JobHead& job, size_t first, size_t end = SIZE_MAX) {
  const size_t count = core::transition_count(job);
  for (size_t i = first; i < std::min(count, end); ++i) {
    const core::Transition* t = core::find_transition(job, i);
    if (i > 0 && t == nullptr) continue;
    v1::ExecutionEvent out = event_about(job);
    t == nullptr ? submission_to_proto(job, out.mutable_transition()) : to_proto(*t, job.id, out.mutable_transition());
    *out.mutable_at() = out.transition().at();
    out.set_final(i + 1 == count && core::is_terminal(job.state));
    writer.push(std::move(out));
  }
}

// What was shelved before the head was read; of very many executions the newest.
void push_shelf(Writer& writer, const core::JobHead& job, const ExecutionPage& page) {
  const uint32_t in_head =
      job.past == nullptr || job.past->executions.empty() ? 0 : job.past->executions.front().number;
  for (auto one = page.executions.rbegin(); one != page.executions.rend(); ++one) {
    if (one->execution.number >= in_head) break;
    for (const core::Transition& t : one->transitions) {
      v1::ExecutionEvent out = event_about(job);
      to_proto(t, job.id, out.mutable_transition());
      *out.mutable_at() = out.transition().at();
      writer.push(std::move(out));
    }
  }
}

void push_progress(Writer& writer, const core::JobHead& job, WallTime now) {
  v1::ExecutionEvent out = event_about(job);
  set_time(now, out.mutable_at());
  out.mutable_progress()->set_percentage(job.past->progress);
  out.mutable_progress()->set_message(job.past->progress_message);
  writer.push(std::move(out));
}

void push_gap(Writer& writer, WallTime now) {
  const int64_t lost = writer.take_lost();
  if (lost == 0) return;
  v1::ExecutionEvent out;
  set_time(now, out.mutable_at());
  out.mutable_gap()->set_lost(lost);
  writer.push(std::move(out));
}

// One job: history from the store, then events; `told` keeps the two from overlapping.
struct JobFeed {
  JobFeed(server::OpenCalls& open_calls, std::function<void()> done) : writer(open_calls, std::move(done)) {}
  Writer writer;
  std::mutex mutex;
  bool history_sent = false;
  size_t told = 0;
  std::vector<std::shared_ptr<const server::JobEvent>> early;  // while the history is being read

  void tell(const core::JobHead& job) {
    push_transitions(writer, job, told);
    told = std::max(told, core::transition_count(job));
    if (core::is_terminal(job.state)) writer.close(grpc::Status::OK);
  }

  void tell_history(store::Reader& reader, JobId job) {
    const absl::StatusOr<store::JobView> view = reader.job(job);
    const absl::StatusOr<ExecutionPage> shelf =
        view.ok() ? executions_of(reader, view->head, {.limit = kToldExecutions}) : view.status();
    const std::lock_guard lock(mutex);
    history_sent = true;
    if (!view.ok()) return writer.close(to_grpc(view.status()));
    push_transitions(writer, view->head, 0, 1);
    if (shelf.ok()) push_shelf(writer, view->head, *shelf);
    told = 1;
    tell(view->head);
    for (const auto& event : early) {
      if (!event->progress) tell(*event->job);
    }
    early.clear();
  }
};

grpc::ServerWriteReactor<v1::ExecutionEvent>* stream_job(server::Server& server, JobId job) {
  auto watch = std::make_shared<uint64_t>(0);
  auto feed = std::make_shared<JobFeed>(server.open_calls(), [&server, watch] { server.events().unwatch(*watch); });
  *watch = server.events().watch_job(job, [&server, feed](const std::shared_ptr<const server::JobEvent>& event) {
    const std::lock_guard lock(feed->mutex);
    if (!feed->history_sent) {
      if (feed->early.size() < Writer::kMaxQueued) feed->early.push_back(event);
      return;
    }
    if (event->progress) {
      push_progress(feed->writer, *event->job, server.clock().now().wall);
    } else {
      feed->tell(*event->job);
    }
  });
  grpc::ServerWriteReactor<v1::ExecutionEvent>* reactor = feed->writer.reactor();
  const absl::Status taken = server.reads().post({.lane = server::ReadPool::Lane::Quick},
                                                 [&server, feed, job] { feed->tell_history(server.reader(), job); });
  if (!taken.ok()) feed->writer.close(to_grpc(taken));
  return reactor;
}

grpc::ServerWriteReactor<v1::ExecutionEvent>* stream_namespace(server::Server& server, const std::string& ns) {
  auto watch = std::make_shared<uint64_t>(0);
  auto writer = std::make_shared<Writer>(server.open_calls(), [&server, watch] { server.events().unwatch(*watch); });
  *watch = server.events().watch_all([&server, writer, ns](const std::shared_ptr<const server::JobEvent>& event) {
    if (!ns.empty() && event->job->ns.str() != ns) return;
    const WallTime now = server.clock().now().wall;
    push_gap(*writer, now);
    if (event->progress) {
      push_progress(*writer, *event->job, now);
    } else {
      push_transitions(*writer, *event->job, event->first_transition);
    }
  });
  return writer->reactor();
}

template <class Message>
grpc::ServerWriteReactor<Message>* refuse(server::Server& server, const absl::Status& status) {
  QueuedWriter<Message> writer(server.open_calls(), [] {});
  writer.close(to_grpc(status));
  return writer.reactor();
}

}  // namespace

grpc::ServerWriteReactor<v1::ExecutionEvent>* start_event_stream(server::Server& server,
                                                                 const v1::ExecutionEventStreamRequest& request) {
  if (request.job_id().empty()) return stream_namespace(server, request.namespace_());
  const absl::StatusOr<JobId> job = parse_job_id(request.job_id());
  if (!job.ok()) return refuse<v1::ExecutionEvent>(server, job.status());
  return stream_job(server, *job);
}

grpc::ServerWriteReactor<v1::SchedulingDecision>* start_decision_stream(
    server::Server& server, const v1::SchedulingDecisionStreamRequest& request) {
  auto watch = std::make_shared<uint64_t>(0);
  auto writer = std::make_shared<QueuedWriter<v1::SchedulingDecision>>(
      server.open_calls(), [&server, watch] { server.events().unwatch(*watch); });
  *watch = server.events().watch_all(
      [writer, ns = request.namespace_()](const std::shared_ptr<const server::JobEvent>& event) {
        const core::JobHead& job = *event->job;
        if (job.state != core::JobState::Scheduled || event->progress || (!ns.empty() && job.ns.str() != ns)) return;
        v1::SchedulingDecision out;
        to_proto(job.past->executions.back(), job.id, &out);
        writer->push(std::move(out));
      });
  return writer->reactor();
}

}  // namespace hodei::api

// SubscribeLogs: the output of a job, history and then live.
#include "src/api/calls/logs/log_source.h"

#include "src/api/calls/logs/log_calls.h"
#include "src/api/calls/translate.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

absl::StatusOr<server::SubscribeRequest> request_from(const v1::SubscribeLogsRequest& in) {
  server::SubscribeRequest out;
  ASSIGN_OR_RETURN(out.job, parse_job_id(in.job_id()));
  if (in.execution() < 0) return bad_field("execution", "must not be negative");
  if (in.from_offset() < 0) return bad_field("from_offset", "must not be negative");
  if (in.from_offset() > 0 && in.execution() == 0)
    return bad_field("from_offset", "applies to one execution: set `execution` too");
  out.execution = static_cast<uint32_t>(in.execution());
  out.from_offset = in.from_offset();
  out.follow = !in.no_follow();
  out.tail = in.tail();
  if (in.has_since()) out.since = WallTime{in.since().seconds() * 1'000'000 + in.since().nanos() / 1000};
  return out;
}

// Finding the next chunk may read from the disk, and so may the subscription itself.
class OutputSource final : public Source<v1::LogChunk> {
 public:
  OutputSource(server::LogHub& logs, server::SubscribeRequest wanted) : logs_(logs), wanted_(std::move(wanted)) {}

  void start(std::function<void()> wake) override { wake_ = std::move(wake); }

  Next next(v1::LogChunk& out) override {
    if (subscription_ == nullptr) {
      auto fresh = logs_.subscribe(wanted_, wake_);
      status_ = fresh.status();
      if (!fresh.ok()) return Next::End;
      subscription_ = *std::move(fresh);
    }
    server::LogChunk chunk;
    switch (subscription_->next(chunk)) {
      case server::Subscription::Next::Wait: return Next::Wait;
      case server::Subscription::Next::Closed: status_ = subscription_->status(); return Next::End;
      case server::Subscription::Next::Chunk: break;
    }
    out.Clear();
    to_proto(chunk, &out);
    return Next::Message;
  }

  absl::Status status() const override { return status_; }
  bool reads_files() const override { return true; }

 private:
  server::LogHub& logs_;
  const server::SubscribeRequest wanted_;
  std::function<void()> wake_;
  std::shared_ptr<server::Subscription> subscription_;
  absl::Status status_;
};

}  // namespace

void to_proto(const server::LogEntry& entry, const std::string& job_id, v1::LogEntry* out) {
  out->set_job_id(job_id);
  out->set_line(entry.line.data(), entry.line.size());
  out->set_is_stderr(entry.is_stderr);
  set_time(WallTime{entry.time_us}, out->mutable_timestamp());
  out->set_sequence(entry.sequence);
  out->set_partial(entry.partial);
  out->set_execution(static_cast<int>(entry.execution.number));
  out->set_offset(entry.offset);
}

void to_proto(const server::LogChunk& chunk, v1::LogChunk* out) {
  const std::string id = short_id(chunk.execution.job);
  server::for_each_entry(chunk, [&](const server::LogEntry& entry) { to_proto(entry, id, out->add_entries()); });
  out->set_execution(static_cast<int>(chunk.execution.number));
  out->set_next_offset(chunk.next_offset);
  out->set_end_of_execution(chunk.end_of_execution);
  if (!chunk.gap) return;
  out->mutable_gap()->set_bytes(chunk.gap->bytes);
  out->mutable_gap()->set_reason(std::string(chunk.gap->reason));
}

SourceOr<v1::LogChunk> subscribe_logs(const LogPorts& p, const Call&, const v1::SubscribeLogsRequest& in) {
  ASSIGN_OR_RETURN(server::SubscribeRequest wanted, request_from(in));
  return std::make_shared<OutputSource>(p.logs, std::move(wanted));
}

}  // namespace hodei::api

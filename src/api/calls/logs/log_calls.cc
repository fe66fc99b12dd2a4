#include "src/api/calls/logs/log_calls.h"

#include "src/api/calls/logs/log_source.h"
#include "src/api/calls/read_call.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

constexpr int64_t kMaxEntries = 10'000;

absl::StatusOr<server::GetLogsRequest> page_request(const v1::GetLogsRequest& in) {
  ASSIGN_OR_RETURN(const JobId job, parse_job_id(in.job_id()));
  if (in.execution() < 0) return bad_field("execution", "must not be negative");
  if (in.limit() < 0 || in.limit() > kMaxEntries) return bad_field("limit", "must be between 0 and ", kMaxEntries);
  if (in.offset() < 0) return bad_field("offset", "must not be negative");
  return server::GetLogsRequest{job, static_cast<uint32_t>(in.execution()), in.limit(), in.offset()};
}

void fill_page(const server::LogPage& page, JobId job, v1::GetLogsResponse* out) {
  const std::string id = short_id(job);
  for (const server::LogChunk& chunk : page.chunks) {
    server::for_each_entry(chunk, [&](const server::LogEntry& entry) { to_proto(entry, id, out->add_entries()); });
  }
  out->set_more(page.more);
  out->set_complete(page.complete);
  out->set_expired(page.expired);
  for (const server::LogChunk& chunk : page.chunks) {
    if (!chunk.gap) continue;
    if (chunk.gap->reason == server::kExpired) out->set_expired_bytes(out->expired_bytes() + chunk.gap->bytes);
    v1::LogGap& gap = *out->add_gaps();
    gap.set_bytes(chunk.gap->bytes);
    gap.set_reason(std::string(chunk.gap->reason));
  }
}

}  // namespace

void get_logs(const LogPorts& p, const Call& call, const v1::GetLogsRequest& in, Answer<v1::GetLogsResponse> answer) {
  const absl::StatusOr<server::GetLogsRequest> request = page_request(in);
  if (!request.ok()) return answer.give(request.status());
  read(
      p.files, call, kLong,
      [&p, request = *request, out = answer.out](const store::ReadLimit&) -> absl::Status {
        ASSIGN_OR_RETURN(const server::LogPage page, p.logs.get_logs(request));
        fill_page(page, request.job, out);
        return absl::OkStatus();
      },
      answer.give);
}

void clear_logs(const LogPorts& p, const Call& call, const v1::ClearLogsRequest& in,
                Answer<v1::ClearLogsResponse> answer) {
  const absl::StatusOr<JobId> job = parse_job_id(in.job_id());
  if (!job.ok()) return answer.give(job.status());
  read(
      p.files, call, kLong,
      [&p, out = answer.out, job = *job, envelope = call.envelope](const store::ReadLimit&) -> absl::Status {
        ASSIGN_OR_RETURN(const int64_t bytes, p.logs.clear(job));
        out->set_bytes(bytes);
        p.commands.post(
            envelope,
            core::RecordAudit{{.action = "logs.cleared", .subject = short_id(job), .detail = cat(bytes, " bytes")}},
            nullptr);
        return absl::OkStatus();
      },
      answer.give);
}

}  // namespace hodei::api

#include "src/api/grpc/log_service.h"

#include "src/api/grpc/admin_service.h"
#include "src/api/grpc/log_stream.h"
#include "src/api/grpc/read_call.h"
#include "src/api/grpc/unary.h"
#include "src/base/status.h"

namespace hodei::api {

grpc::ServerWriteReactor<v1::LogChunk>* LogService::SubscribeLogs(Context*, const v1::SubscribeLogsRequest* in) {
  return start_log_stream(server_, *in);
}

LogService::Unary* LogService::GetLogs(Context* c, const v1::GetLogsRequest* in, v1::GetLogsResponse* out) {
  constexpr int64_t kMaxEntries = 10'000;
  const absl::StatusOr<JobId> job = parse_job_id(in->job_id());
  if (!job.ok()) return finish(c, job.status());
  if (in->execution() < 0) return finish(c, bad_field("execution", "must not be negative"));
  if (in->limit() < 0 || in->limit() > kMaxEntries)
    return finish(c, bad_field("limit", "must be between 0 and ", kMaxEntries));
  if (in->offset() < 0) return finish(c, bad_field("offset", "must not be negative"));
  return read(server_, server_.files(), [this, in, out, job = *job](const store::ReadLimit&) -> absl::Status {
    ASSIGN_OR_RETURN(const server::LogPage page,
                     server_.logs().get_logs({job, static_cast<uint32_t>(in->execution()), in->limit(), in->offset()}));
    const std::string id = short_id(job);
    for (const server::LogChunk& chunk : page.chunks) {
      server::for_each_entry(chunk, [&](const server::LogEntry& entry) { to_proto(entry, id, out->add_entries()); });
    }
    out->set_more(page.more);
    out->set_complete(page.complete);
    out->set_expired(page.expired);
    for (const server::LogChunk& chunk : page.chunks) {
      if (chunk.gap && chunk.gap->reason == server::kExpired)
        out->set_expired_bytes(out->expired_bytes() + chunk.gap->bytes);
    }
    return absl::OkStatus();
  });
}

LogService::Unary* LogService::ClearLogs(Context* c, const v1::ClearLogsRequest* in, v1::ClearLogsResponse* out) {
  const absl::StatusOr<JobId> job = parse_job_id(in->job_id());
  if (!job.ok()) return finish(c, job.status());
  return read(server_, server_.files(),
              [this, out, job = *job, principal = principal_of(*c)](const store::ReadLimit&) -> absl::Status {
                ASSIGN_OR_RETURN(const int64_t bytes, server_.logs().clear(job));
                out->set_bytes(bytes);
                server_.loop().post(core::RecordAudit{{.principal = principal,
                                                       .action = "logs.cleared",
                                                       .subject = short_id(job),
                                                       .detail = cat(bytes, " bytes")}},
                                    nullptr);
                return absl::OkStatus();
              });
}

}  // namespace hodei::api

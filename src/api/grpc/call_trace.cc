#include "src/api/grpc/call_trace.h"

#include "src/base/trace.h"

namespace hodei::api {
namespace {

constexpr size_t kTraceparentLength = 55;
// Specs held at once: each may have a megabyte.
constexpr size_t kSpecsAtOnce = 50;

}  // namespace

void adopt_trace(const grpc::CallbackServerContext& context, core::NewJob& job) {
  const auto given = context.client_metadata().find("traceparent");
  if (given == context.client_metadata().end() || !traceparent_in(job.spec->bytes).empty()) return;
  const std::string_view text(given->second.data(), given->second.size());
  // The standard wants a bad one to be passed over: the call itself is not at fault.
  if (parse_traceparent(text)) add_traceparent(text.substr(0, kTraceparentLength), job.spec->bytes);
}

void add_trace_ids(store::Reader& reader, const std::vector<store::JobView>& views, v1::ListJobsResponse* out) {
  std::map<JobId, v1::Job*> jobs;
  for (size_t i = 0; i < views.size(); ++i) jobs[views[i].head.id] = out->mutable_jobs(static_cast<int>(i));
  std::vector<JobId> ids;
  for (size_t i = 0; i < views.size(); ++i) {
    ids.push_back(views[i].head.id);
    if (ids.size() < kSpecsAtOnce && i + 1 < views.size()) continue;
    const auto specs = reader.specs(ids);
    ids.clear();
    if (!specs.ok()) return;
    for (const auto& spec : *specs) jobs[spec->job]->set_trace_id(trace_text(trace_of(spec->job, spec->bytes).trace));
  }
}

}  // namespace hodei::api

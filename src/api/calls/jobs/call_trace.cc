#include "src/api/calls/jobs/call_trace.h"

#include <map>

#include "src/base/trace.h"

namespace hodei::api {
namespace {

constexpr size_t kTraceparentLength = 55;
// Specs held at once: each may have a megabyte.
constexpr size_t kSpecsAtOnce = 50;

}  // namespace

void adopt_trace(const Call& call, core::NewJob& job) {
  if (call.traceparent.empty() || !traceparent_in(job.spec->bytes).empty()) return;
  // The standard wants a bad one to be passed over: the call itself is not at fault.
  if (!parse_traceparent(call.traceparent)) return;
  add_traceparent(std::string_view(call.traceparent).substr(0, kTraceparentLength), job.spec->bytes);
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

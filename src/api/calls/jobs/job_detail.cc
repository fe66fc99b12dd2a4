#include "src/api/calls/jobs/job_detail.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "src/api/calls/translate.h"
#include "src/base/status.h"
#include "src/core/jobs/draft.h"

namespace hodei::api {
namespace {

constexpr int kMostExecutions = 1000;
constexpr int kUsualExecutions = 50;

absl::StatusOr<ExecutionRange> range_of(const v1::GetJobRequest& in) {
  ExecutionRange range;
  if (in.execution_page_size() < 0 || in.execution_page_size() > kMostExecutions) {
    return bad_field("execution_page_size", "must be between 0 and ", kMostExecutions, ", not ",
                     in.execution_page_size());
  }
  range.limit = static_cast<size_t>(in.execution_page_size() == 0 ? kUsualExecutions : in.execution_page_size());
  const std::string& token = in.execution_page_token();
  if (token.empty()) return range;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), range.below);
  if (error != std::errc() || end != token.data() + token.size()) {
    return bad_field("execution_page_token", "must be the older_executions_token of the previous answer");
  }
  return range;
}

// What happened since the last dispatch, and in a head of an older version what came before it.
std::vector<core::ArchivedExecution> newest_of(const core::JobHead& job) {
  core::Draft draft(job);
  std::vector<core::ArchivedExecution> out = draft.archive();
  std::ranges::reverse(out);
  return out;
}

}  // namespace

absl::StatusOr<ExecutionPage> executions_of(store::Reader& reader, const core::JobHead& job,
                                            const ExecutionRange& range) {
  std::vector<core::ArchivedExecution> found = newest_of(job);
  const uint32_t in_head = found.empty() ? 0 : found.back().execution.number;  // what is older is archived
  std::erase_if(found, [&](const core::ArchivedExecution& one) { return one.execution.number >= range.below; });
  if (in_head > 1) {
    store::ArchiveQuery query{
        .job = job.id, .below = std::min(in_head, range.below), .limit = range.limit, .max_bytes = range.max_bytes};
    ASSIGN_OR_RETURN(std::vector<core::ArchivedExecution> archived, reader.archived_executions(query));
    std::ranges::move(archived, std::back_inserter(found));
  }
  ExecutionPage page;
  size_t bytes = 0;
  for (core::ArchivedExecution& one : found) {
    bytes += encode(one).size();
    if (page.executions.size() == range.limit || (!page.executions.empty() && bytes > range.max_bytes)) break;
    page.executions.push_back(std::move(one));
  }
  const uint32_t oldest =
      job.executions > core::kMaxArchivedExecutions ? job.executions - core::kMaxArchivedExecutions : 1;
  page.reaches_back = page.executions.empty() || page.executions.back().execution.number <= oldest;
  return page;
}

absl::Status read_job(store::Reader& reader, const v1::GetJobRequest& in, v1::Job* out) {
  ASSIGN_OR_RETURN(const JobId id, parse_job_id(in.job_id()));
  ASSIGN_OR_RETURN(const ExecutionRange range, range_of(in));
  ASSIGN_OR_RETURN(const store::JobView view, reader.job(id));
  ASSIGN_OR_RETURN(const ExecutionPage page, executions_of(reader, view.head, range));
  to_proto(view, true, out);
  out->set_executions_total(static_cast<int>(view.head.executions));
  if (!page.reaches_back) out->set_older_executions_token(cat(page.executions.back().execution.number));
  const bool from_start = page.executions.empty() || page.executions.back().execution.number == 1;
  if (from_start) submission_to_proto(view.head, out->add_history());
  if (page.executions.empty() && view.head.past != nullptr) {  // it never had an execution
    for (const core::Transition& t : view.head.past->transitions) to_proto(t, id, out->add_history());
  }
  for (auto one = page.executions.rbegin(); one != page.executions.rend(); ++one) {
    to_proto(one->execution, id, out->add_executions());
    for (const core::Transition& t : one->transitions) to_proto(t, id, out->add_history());
  }
  return absl::OkStatus();
}

}  // namespace hodei::api

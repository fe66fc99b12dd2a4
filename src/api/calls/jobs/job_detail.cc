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

absl::StatusOr<ExecutionWish> wish_of(const v1::GetJobRequest& in) {
  ExecutionWish wish;
  if (in.execution_page_size() < 0 || in.execution_page_size() > kMostExecutions) {
    return bad_field("execution_page_size", "must be between 0 and ", kMostExecutions, ", not ",
                     in.execution_page_size());
  }
  wish.limit = static_cast<size_t>(in.execution_page_size() == 0 ? kUsualExecutions : in.execution_page_size());
  const std::string& token = in.execution_page_token();
  if (token.empty()) return wish;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), wish.below);
  if (error != std::errc() || end != token.data() + token.size()) {
    return bad_field("execution_page_token", "must be the older_executions_token of the previous answer");
  }
  return wish;
}

// What happened since the last dispatch, and in a head of an older version what came before it.
std::vector<core::ShelvedExecution> newest_of(const core::JobHead& job) {
  core::Draft draft(job);
  std::vector<core::ShelvedExecution> out = draft.shelve();
  std::ranges::reverse(out);
  return out;
}

}  // namespace

absl::StatusOr<ExecutionPage> executions_of(store::Reader& reader, const core::JobHead& job,
                                            const ExecutionWish& wish) {
  std::vector<core::ShelvedExecution> found = newest_of(job);
  const uint32_t in_head = found.empty() ? 0 : found.back().execution.number;  // what is older is on the shelf
  std::erase_if(found, [&](const core::ShelvedExecution& one) { return one.execution.number >= wish.below; });
  if (in_head > 1) {
    store::ShelfQuery query{
        .job = job.id, .below = std::min(in_head, wish.below), .limit = wish.limit, .max_bytes = wish.max_bytes};
    ASSIGN_OR_RETURN(std::vector<core::ShelvedExecution> shelf, reader.shelf(query));
    std::ranges::move(shelf, std::back_inserter(found));
  }
  ExecutionPage page;
  size_t bytes = 0;
  for (core::ShelvedExecution& one : found) {
    bytes += encode(one).size();
    if (page.executions.size() == wish.limit || (!page.executions.empty() && bytes > wish.max_bytes)) break;
    page.executions.push_back(std::move(one));
  }
  const uint32_t oldest =
      job.executions > core::kMaxShelvedExecutions ? job.executions - core::kMaxShelvedExecutions : 1;
  page.reaches_back = page.executions.empty() || page.executions.back().execution.number <= oldest;
  return page;
}

absl::Status read_job(store::Reader& reader, const v1::GetJobRequest& in, v1::Job* out) {
  ASSIGN_OR_RETURN(const JobId id, parse_job_id(in.job_id()));
  ASSIGN_OR_RETURN(const ExecutionWish wish, wish_of(in));
  ASSIGN_OR_RETURN(const store::JobView view, reader.job(id));
  ASSIGN_OR_RETURN(const ExecutionPage page, executions_of(reader, view.head, wish));
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

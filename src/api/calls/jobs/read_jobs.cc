// Jobs as the store has them.
#include "src/api/calls/jobs/call_trace.h"
#include "src/api/calls/jobs/job_calls.h"
#include "src/api/calls/jobs/job_detail.h"
#include "src/api/calls/jobs/waiting_reasons.h"
#include "src/api/calls/read_call.h"
#include "src/api/calls/translate.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

absl::StatusOr<JobId> job_page_start(const std::string& token) {
  if (token.empty()) return JobId{};
  const absl::StatusOr<JobId> id = parse_job_id(token);
  if (!id.ok()) return bad_field("page_token", "must be the next_page_token of the previous page");
  return *id;
}

constexpr int kMaxLabelRules = 20;

absl::StatusOr<std::vector<core::LabelRule>> label_rules(const v1::ListJobsRequest& in) {
  if (in.label_rules_size() > kMaxLabelRules) {
    return bad_field("label_rules", "at most ", kMaxLabelRules, " rules, not ", in.label_rules_size());
  }
  std::vector<core::LabelRule> out;
  for (int i = 0; i < in.label_rules_size(); ++i) {
    const v1::LabelRule& rule = in.label_rules(i);
    out.push_back({rule.key(),
                   checked_enum<core::LabelOperator>(rule.operator_()),
                   {rule.values().begin(), rule.values().end()}});
    RETURN_IF_ERROR(core::check_rule(out.back(), cat("label_rules[", i, "]")));
  }
  return out;
}

absl::Status read_jobs(store::Reader& reader, const v1::ListJobsRequest& in, const store::ReadLimit& limit,
                       v1::ListJobsResponse* out) {
  constexpr int kDefaultPage = 50;
  constexpr int kMaxPage = 1000;
  if (in.page_size() < 0 || in.page_size() > kMaxPage) {
    return bad_field("page_size", "must be between 0 and ", kMaxPage, ", not ", in.page_size());
  }
  store::JobQuery query;
  ASSIGN_OR_RETURN(query.before, job_page_start(in.page_token()));
  query.ns = in.namespace_();
  for (const int state : in.states()) query.states.push_back(static_cast<core::JobState>(state));
  query.name_contains = in.name_contains();
  query.labels = {in.labels().begin(), in.labels().end()};
  ASSIGN_OR_RETURN(query.rules, label_rules(in));
  query.name = in.name();
  if (in.has_since()) query.since = from_proto(in.since());
  if (in.has_until()) query.until = from_proto(in.until());
  query.oldest_first = in.oldest_first();
  query.worker = in.worker_id();
  query.limit = static_cast<size_t>(in.page_size() == 0 ? kDefaultPage : in.page_size());
  ASSIGN_OR_RETURN(const store::JobPage page, reader.jobs(query, limit));
  for (const store::JobView& view : page.jobs) to_proto(view, false, out->add_jobs());
  add_trace_ids(reader, page.jobs, out);
  if (page.next != JobId{}) out->set_next_page_token(short_id(page.next));
  return absl::OkStatus();
}

}  // namespace

void get_job(const JobPorts& p, const Call& call, const v1::GetJobRequest& in, Answer<v1::Job> answer) {
  read(
      p.stored, call, kQuick,
      [&p, &in, out = answer.out](const store::ReadLimit&) { return read_job(p.stored.reader, in, out); },
      [&p, answer, envelope = call.envelope](const absl::Status& done) {
        if (!done.ok()) return answer.give(done);
        tell_why_waiting(p.commands, envelope, p.input_trouble, {answer.out}, answer.give);
      });
}

void list_jobs(const JobPorts& p, const Call& call, const v1::ListJobsRequest& in,
               Answer<v1::ListJobsResponse> answer) {
  read(
      p.stored, call, kLong,
      [&p, &in, out = answer.out](const store::ReadLimit& limit) { return read_jobs(p.stored.reader, in, limit, out); },
      [&p, answer, envelope = call.envelope](const absl::Status& done) {
        if (!done.ok()) return answer.give(done);
        tell_why_waiting(p.commands, envelope, p.input_trouble,
                         {answer->mutable_jobs()->pointer_begin(), answer->mutable_jobs()->pointer_end()}, answer.give);
      });
}

}  // namespace hodei::api

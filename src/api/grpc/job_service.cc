#include "src/api/grpc/job_service.h"

#include "src/api/grpc/admin_service.h"
#include "src/api/grpc/call_trace.h"
#include "src/api/grpc/cancel_wait.h"
#include "src/api/grpc/event_stream.h"
#include "src/api/grpc/job_delete.h"
#include "src/api/grpc/job_detail.h"
#include "src/api/grpc/key_conflict.h"
#include "src/api/grpc/queue_stream.h"
#include "src/api/grpc/read_call.h"
#include "src/api/grpc/submissions.h"
#include "src/api/grpc/unary.h"
#include "src/api/grpc/waiting_reasons.h"
#include "src/base/random.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

void fill(const core::Submitted::One& one, v1::QueueJobResponse* out) {
  out->set_job_id(public_id(one.job));
  out->set_short_id(short_id(one.job));
  out->set_existing(one.existing);
  if (one.note.empty()) return;
  out->set_note(out->note().empty() ? one.note : cat(out->note(), "; ", one.note));
}

// Of notes the first is told, and how many there are.
void fill(const core::Submitted& done, const std::vector<std::string>& notes, v1::QueueJobBatchResponse* out) {
  size_t told = 0;
  for (size_t i = 0; i < done.jobs.size(); ++i) {
    const core::Submitted::One& one = done.jobs[i];
    out->add_job_ids(short_id(one.job));
    v1::QueueJobResponse& job = *out->add_jobs();
    job.set_note(notes[i]);
    fill(one, &job);
    if (!one.note.empty() && ++told == 1) out->set_note(cat("job ", short_id(one.job), ": ", one.note));
  }
  if (told > 1) out->set_note(cat(out->note(), " (and so for ", told - 1, told == 2 ? " other)" : " others)"));
}

// From the request, else from the call's metadata; empty: one is made.
std::string correlation_of(const grpc::CallbackServerContext& context, const std::string& given) {
  if (!given.empty()) return given;
  const auto it = context.client_metadata().find("hodei-correlation-id");
  return it == context.client_metadata().end() ? std::string() : std::string(it->second.data(), it->second.size());
}

// "job j2 has already …"
std::string_view ended_as(core::JobState state) {
  switch (state) {
    case core::JobState::Succeeded: return "succeeded";
    case core::JobState::Failed: return "failed";
    case core::JobState::Cancelled: return "been cancelled";
    case core::JobState::Timeout: return "timed out";
    default: return "moved on; try again";
  }
}

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

}  // namespace

absl::StatusOr<core::Submit> JobService::submission(const Context& c, const v1::QueueJobRequest& in,
                                                    v1::QueueJobResponse* told) {
  RETURN_IF_ERROR(server_.check_room());
  ASSIGN_OR_RETURN(const std::string ns, namespace_of(in.namespace_()));
  // Nearly all submissions are a spec as it is: that one is not copied.
  v1::JobSpec rendered;
  const bool is_plain = in.has_spec() && in.template_().empty() && in.parameters().empty();
  if (!is_plain) {
    ASSIGN_OR_RETURN(rendered, rendered_spec(in, ns, server_.lookups()));
  }
  StorableSpec storable;
  RETURN_IF_ERROR(make_storable(is_plain ? in.spec() : rendered, ns, desk(), storable));
  told->set_note(storable.note);
  told->set_takes_stdin(storable.spec->takes_stdin());
  ASSIGN_OR_RETURN(core::NewJob job,
                   new_job(*storable.spec, ns, correlation_of(c, in.correlation_id()), in.template_()));
  adopt_trace(c, job);
  job.allow_other_spec = in.allow_other_spec();
  core::Submit submit;
  submit.jobs.push_back(std::move(job));
  RETURN_IF_ERROR(find_key_owners(server_.loop().key_horizon(), server_.lookups(), submit));
  return submit;
}

JobService::Unary* JobService::QueueJob(Context* c, const v1::QueueJobRequest* in, v1::QueueJobResponse* out) {
  absl::StatusOr<core::Submit> submit = submission(*c, *in, out);
  if (!submit.ok()) return finish(c, submit.status());
  out->set_sequence(in->sequence());
  Unary* reactor = c->DefaultReactor();
  const WantedSpecs wanted = {submit->jobs[0].spec};
  server_.loop().post_bounded(*std::move(submit), [this, reactor, out, wanted](absl::StatusOr<core::Reply> reply) {
    if (reply.ok()) fill(std::get<core::Submitted>(*reply).jobs[0], out);
    if (!concerns_keys(reply)) return reactor->Finish(to_grpc(reply.status()));
    read_then_finish(server_, reactor, [this, out, wanted, reply] {
      return explain_keys(server_.reader(), wanted, reply, out->mutable_note());
    });
  });
  return reactor;
}

JobService::Unary* JobService::QueueJobBatch(Context* c, const v1::QueueJobBatchRequest* in,
                                             v1::QueueJobBatchResponse* out) {
  if (const absl::Status room = server_.check_room(); !room.ok()) return finish(c, room);
  const absl::StatusOr<std::string> ns = namespace_of(in->namespace_());
  if (!ns.ok()) return finish(c, ns.status());
  if (in->specs_size() == 0 || in->specs_size() > kMaxBatch) {
    return finish(c, bad_field("specs", "must have 1 to ", kMaxBatch, " jobs, not ", in->specs_size()));
  }
  std::string correlation = correlation_of(*c, in->correlation_id());
  if (correlation.empty()) correlation = random_uuid();  // one request, one id
  core::Submit submit;
  submit.jobs.reserve(static_cast<size_t>(in->specs_size()));
  std::vector<std::string> notes;
  for (int i = 0; i < in->specs_size(); ++i) {
    StorableSpec storable;
    const absl::Status sealed = make_storable(in->specs(i), *ns, desk(), storable);
    absl::StatusOr<core::NewJob> job = sealed.ok() ? new_job(*storable.spec, *ns, correlation, "") : sealed;
    if (!job.ok()) {
      return finish(c, absl::Status(job.status().code(), cat("specs[", i, "].", std::string(job.status().message()))));
    }
    adopt_trace(*c, *job);
    job->allow_other_spec = in->allow_other_spec();
    submit.jobs.push_back(std::move(*job));
    notes.push_back(std::move(storable.note));
  }
  const absl::Status asked = find_key_owners(server_.loop().key_horizon(), server_.lookups(), submit);
  if (!asked.ok()) return finish(c, asked);
  WantedSpecs wanted;
  for (const core::NewJob& job : submit.jobs) wanted.push_back(job.spec);
  Unary* reactor = c->DefaultReactor();
  const auto answer = [this, reactor, out, wanted = std::move(wanted),
                       notes = std::move(notes)](absl::StatusOr<core::Reply> reply) {
    if (reply.ok()) fill(std::get<core::Submitted>(*reply), notes, out);
    if (!concerns_keys(reply)) return reactor->Finish(to_grpc(reply.status()));
    read_then_finish(server_, reactor, [this, out, wanted, reply] {
      return explain_keys(server_.reader(), wanted, reply, out->mutable_note());
    });
  };
  server_.loop().post_bounded(std::move(submit), answer);
  return reactor;
}

grpc::ServerBidiReactor<v1::QueueJobRequest, v1::QueueJobResponse>* JobService::QueueJobs(Context* c) {
  return new QueueStream(server_, [this, c](const v1::QueueJobRequest& in, std::string* note) {
    v1::QueueJobResponse told;
    absl::StatusOr<core::Submit> submit = submission(*c, in, &told);
    *note = told.note();
    return submit;
  });
}

JobService::Unary* JobService::GetJob(Context* c, const v1::GetJobRequest* in, v1::Job* out) {
  return read(
      server_, *c, kQuick, [this, in, out](const store::ReadLimit&) { return read_job(server_.reader(), *in, out); },
      [this, out](Unary* call) { tell_why_waiting(server_, {out}, call); });
}

JobService::Unary* JobService::ListJobs(Context* c, const v1::ListJobsRequest* in, v1::ListJobsResponse* out) {
  return read(
      server_, *c, kLong, [this, in, out](const store::ReadLimit& limit) { return list_jobs(*in, limit, out); },
      [this, out](Unary* call) {
        tell_why_waiting(server_, {out->mutable_jobs()->pointer_begin(), out->mutable_jobs()->pointer_end()}, call);
      });
}

absl::Status JobService::list_jobs(const v1::ListJobsRequest& in, const store::ReadLimit& limit,
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
  ASSIGN_OR_RETURN(const store::JobPage page, server_.reader().jobs(query, limit));
  for (const store::JobView& view : page.jobs) to_proto(view, false, out->add_jobs());
  add_trace_ids(server_.reader(), page.jobs, out);
  if (page.next != JobId{}) out->set_next_page_token(short_id(page.next));
  return absl::OkStatus();
}

JobService::Unary* JobService::AssignJob(Context* c, const v1::AssignJobRequest* in, v1::AssignJobResponse* out) {
  const absl::StatusOr<JobId> id = parse_job_id(in->job_id());
  if (!id.ok()) return finish(c, id.status());
  Unary* reactor = c->DefaultReactor();
  server_.loop().post_bounded(core::Assign{*id, WorkerId(in->worker_id()), principal_of(*c)},
                              [this, reactor, out, id = *id](auto reply) {
                                const absl::Status status = reply.status();
                                if (reply.ok())
                                  out->set_execution_id(to_string(std::get<core::Assigned>(*reply).execution));
                                if (absl::IsNotFound(status) && status.message().find("worker") != 0) {
                                  return read_then_finish(server_, reactor, [this, id] { return explain_absence(id); });
                                }
                                reactor->Finish(to_grpc(status));
                              });
  return reactor;
}

absl::Status JobService::explain_absence(JobId job) {
  const absl::StatusOr<store::JobView> view = server_.reader().job(job);
  RETURN_IF_ERROR(view.status());
  return absl::FailedPreconditionError(cat("job ", short_id(job), " has already ", ended_as(view->head.state)));
}

JobService::Unary* JobService::CancelJob(Context* c, const v1::CancelJobRequest* in, v1::CancelJobResponse* out) {
  const absl::StatusOr<JobId> id = parse_job_id(in->job_id());
  if (!id.ok()) return finish(c, id.status());
  if (in->reason().size() > 1000) return finish(c, bad_field("reason", "must have at most 1000 characters"));
  const auto absent = [this](JobId job) { return explain_absence(job); };
  out->set_job_id(public_id(*id));
  out->set_short_id(short_id(*id));
  if (in->wait()) return cancel_and_wait(server_, *id, in->reason(), absent, out);
  Unary* reactor = c->DefaultReactor();
  server_.loop().post_bounded(core::Cancel{*id, in->reason()}, [this, reactor, out, absent, id = *id](auto reply) {
    if (absl::IsNotFound(reply.status()))
      return read_then_finish(server_, reactor, [absent, id] { return absent(id); });
    if (reply.ok()) out->set_state(to_proto(std::get<core::CancelTaken>(*reply).state));
    reactor->Finish(to_grpc(reply.status()));
  });
  return reactor;
}

JobService::Unary* JobService::RetryJob(Context* c, const v1::RetryJobRequest* in, v1::QueueJobResponse* out) {
  Unary* reactor = c->DefaultReactor();
  const absl::Status taken = server_.reads().post({c->peer(), kQuick}, [this, c, in, out, reactor] {
    absl::StatusOr<core::Submit> submit = resubmission(*c, *in);
    if (!submit.ok()) return reactor->Finish(to_grpc(submit.status()));
    server_.loop().post_bounded(*std::move(submit), [out, reactor](absl::StatusOr<core::Reply> reply) {
      if (reply.ok()) fill(std::get<core::Submitted>(*reply).jobs[0], out);
      reactor->Finish(to_grpc(reply.status()));
    });
  });
  if (!taken.ok()) reactor->Finish(to_grpc(taken));
  return reactor;
}

absl::StatusOr<core::Submit> JobService::resubmission(const Context& c, const v1::RetryJobRequest& in) {
  ASSIGN_OR_RETURN(const JobId id, parse_job_id(in.job_id()));
  RETURN_IF_ERROR(server_.check_room());
  ASSIGN_OR_RETURN(const store::JobView view, server_.reader().job(id));
  if (!core::is_terminal(view.head.state)) {
    return absl::FailedPreconditionError(
        cat("job ", short_id(id), " is ", core::name(view.head.state), "; only a finished job can be retried"));
  }
  v1::JobSpec spec;
  spec.ParseFromString(view.spec.bytes);
  if (spec.takes_stdin()) {
    return absl::FailedPreconditionError(cat("job ", short_id(id),
                                             " read its standard input from the client that ran it, which is not kept; "
                                             "run it again with `hodei run`"));
  }
  spec.clear_idempotency_key();
  const std::string ns = view.head.ns.str();
  RETURN_IF_ERROR(check_references(spec, ns, server_.reader()));
  ASSIGN_OR_RETURN(core::NewJob job,
                   new_job(spec, ns, correlation_of(c, in.correlation_id()), view.spec.template_name));
  job.spec->retry_of = id;
  core::Submit submit;
  submit.jobs.push_back(std::move(job));
  return submit;
}

JobService::Unary* JobService::DeleteJobs(Context* c, const v1::DeleteJobsRequest* in, v1::DeleteJobsResponse* out) {
  Unary* reactor = c->DefaultReactor();
  delete_jobs(server_, principal_of(*c), *in, out, reactor);
  return reactor;
}

grpc::ServerWriteReactor<v1::ExecutionEvent>* JobService::ExecutionEventStream(
    Context*, const v1::ExecutionEventStreamRequest* in) {
  return start_event_stream(server_, *in);
}

JobService::Unary* JobService::PutTemplate(Context* c, const v1::PutTemplateRequest* in, v1::Template* out) {
  const absl::StatusOr<std::string> ns = namespace_of(in->namespace_());
  if (!ns.ok()) return finish(c, ns.status());
  absl::StatusOr<core::TemplateRow> row = template_row(in->template_(), *ns);
  if (!row.ok()) return finish(c, row.status());
  return decide<core::TemplatePut>(server_, c, core::PutJobTemplate{std::move(*row), principal_of(*c)},
                                   [out](const core::TemplatePut& put) { *out = to_proto(put.row); });
}

JobService::Unary* JobService::DeleteTemplate(Context* c, const v1::DeleteTemplateRequest* in,
                                              v1::DeleteTemplateResponse*) {
  const absl::StatusOr<std::string> ns = namespace_of(in->namespace_());
  if (!ns.ok()) return finish(c, ns.status());
  return decide<core::Done>(server_, c, core::DropJobTemplate{*ns, in->name(), principal_of(*c)},
                            [](const core::Done&) {});
}

JobService::Unary* JobService::GetTemplate(Context* c, const v1::GetTemplateRequest* in, v1::Template* out) {
  const absl::StatusOr<std::string> ns = namespace_of(in->namespace_());
  if (!ns.ok()) return finish(c, ns.status());
  return read(server_, *c, kQuick, [this, in, out, ns = *ns](const store::ReadLimit&) {
    const absl::StatusOr<core::TemplateRow> row = server_.reader().job_template(ns, in->name());
    if (row.ok()) *out = to_proto(*row);
    return row.status();
  });
}

JobService::Unary* JobService::ListTemplates(Context* c, const v1::ListTemplatesRequest* in,
                                             v1::ListTemplatesResponse* out) {
  if (!in->namespace_().empty()) {
    if (const absl::Status bad = check_name("namespace", in->namespace_()); !bad.ok()) return finish(c, bad);
  }
  return read(server_, *c, kLong, [this, in, out](const store::ReadLimit&) -> absl::Status {
    ASSIGN_OR_RETURN(const auto rows, server_.reader().job_templates(in->namespace_()));
    for (const core::TemplateRow& row : rows) *out->add_templates() = to_proto(row);
    return absl::OkStatus();
  });
}

}  // namespace hodei::api

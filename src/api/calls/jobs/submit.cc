// Queueing jobs: one, many in one batch, and a finished one again.
#include "src/api/calls/jobs/call_trace.h"
#include "src/api/calls/jobs/job_calls.h"
#include "src/api/calls/jobs/key_conflict.h"
#include "src/api/calls/jobs/submissions.h"
#include "src/api/calls/read_call.h"
#include "src/api/calls/secrets.h"
#include "src/base/status.h"
#include "src/spec/submission.h"

namespace hodei::api {
namespace {

// Of notes the first is told, and how many there are.
void fill_batch(const core::Submitted& done, const std::vector<std::string>& notes, v1::QueueJobBatchResponse* out) {
  size_t told = 0;
  for (size_t i = 0; i < done.jobs.size(); ++i) {
    const core::Submitted::One& one = done.jobs[i];
    out->add_job_ids(short_id(one.job));
    v1::QueueJobResponse& job = *out->add_jobs();
    job.set_note(notes[i]);
    fill_submitted(one, &job);
    if (!one.note.empty() && ++told == 1) out->set_note(cat("job ", short_id(one.job), ": ", one.note));
  }
  if (told > 1) out->set_note(cat(out->note(), " (and so for ", told - 1, told == 2 ? " other)" : " others)"));
}

SecretPorts secret_ports(const JobPorts& p) { return {p.vault, p.stored.lookups}; }

// All jobs of a batch, with a note for each submitter.
struct Batch {
  core::Submit submit;
  std::vector<std::string> notes;
};

absl::StatusOr<Batch> batch_of(const JobPorts& p, const Call& call, const v1::QueueJobBatchRequest& in) {
  RETURN_IF_ERROR(p.check_room());
  ASSIGN_OR_RETURN(const std::string ns, spec::namespace_of(in.namespace_()));
  if (in.specs_size() == 0 || in.specs_size() > kMaxBatch) {
    return bad_field("specs", "must have 1 to ", kMaxBatch, " jobs, not ", in.specs_size());
  }
  const std::string& correlation = call.envelope->correlation_id;  // one request, one id
  Batch out;
  out.submit.jobs.reserve(static_cast<size_t>(in.specs_size()));
  for (int i = 0; i < in.specs_size(); ++i) {
    StorableSpec storable;
    const absl::Status sealed = make_storable(in.specs(i), ns, secret_ports(p), storable);
    absl::StatusOr<core::NewJob> job = sealed.ok() ? spec::new_job(*storable.spec, ns, correlation, "") : sealed;
    if (!job.ok()) {
      return absl::Status(job.status().code(), cat("specs[", i, "].", std::string(job.status().message())));
    }
    adopt_trace(call, *job);
    job->allow_other_spec = in.allow_other_spec();
    out.submit.jobs.push_back(std::move(*job));
    out.notes.push_back(std::move(storable.note));
  }
  RETURN_IF_ERROR(find_key_owners(p.commands.key_horizon(), p.stored.lookups, out.submit));
  return out;
}

// Answers, once the store has been asked what it knows about the keys, if there is anything to ask.
template <class Response>
void answer_with_keys(const JobPorts& p, const WantedSpecs& wanted, const absl::StatusOr<core::Reply>& reply,
                      const Answer<Response>& answer) {
  if (!concerns_keys(reply)) return answer.give(reply.status());
  look_up(
      p.stored,
      [&p, wanted, reply, out = answer.out] {
        return explain_keys(p.stored.reader, wanted, reply, out->mutable_note());
      },
      answer.give);
}

absl::StatusOr<core::Submit> resubmission(const JobPorts& p, const std::string& correlation_id,
                                          const v1::RetryJobRequest& in) {
  ASSIGN_OR_RETURN(const JobId id, parse_job_id(in.job_id()));
  RETURN_IF_ERROR(p.check_room());
  ASSIGN_OR_RETURN(const store::JobView view, p.stored.reader.job(id));
  if (!core::is_terminal(view.head.state)) {
    return absl::FailedPreconditionError(
        cat("job ", short_id(id), " is ", core::name(view.head.state), "; only a finished job can be retried"));
  }
  v1::JobSpec spec;
  spec.ParseFromString(view.spec.bytes);
  if (spec.takes_stdin() && !in.without_stdin()) {
    return absl::FailedPreconditionError(
        cat("job ", short_id(id),
            " had the standard input of the client that ran it, which is not kept; run it again with `hodei run`, or "
            "retry it with an empty one: `hodei job retry --no-stdin ",
            short_id(id), "`"));
  }
  spec.clear_takes_stdin();
  spec.clear_idempotency_key();
  const std::string ns = view.head.ns.str();
  RETURN_IF_ERROR(check_references(spec, ns, p.stored.reader));
  ASSIGN_OR_RETURN(core::NewJob job, spec::new_job(spec, ns, correlation_id, view.spec.template_name));
  job.spec->retry_of = id;
  core::Submit submit;
  submit.jobs.push_back(std::move(job));
  return submit;
}

}  // namespace

void fill_submitted(const core::Submitted::One& one, v1::QueueJobResponse* out) {
  out->set_job_id(public_id(one.job));
  out->set_short_id(short_id(one.job));
  out->set_existing(one.existing);
  if (one.note.empty()) return;
  out->set_note(out->note().empty() ? one.note : cat(out->note(), "; ", one.note));
}

absl::StatusOr<core::Submit> submission_of(const JobPorts& p, const Call& call, const v1::QueueJobRequest& in,
                                           v1::QueueJobResponse* told) {
  RETURN_IF_ERROR(p.check_room());
  ASSIGN_OR_RETURN(const std::string ns, spec::namespace_of(in.namespace_()));
  // Nearly all submissions are a spec as it is: that one is not copied.
  v1::JobSpec rendered;
  const bool is_plain = in.has_spec() && in.template_().empty() && in.parameters().empty();
  if (!is_plain) {
    ASSIGN_OR_RETURN(rendered, rendered_spec(in, ns, p.stored.lookups));
  }
  StorableSpec storable;
  RETURN_IF_ERROR(make_storable(is_plain ? in.spec() : rendered, ns, secret_ports(p), storable));
  told->set_note(storable.note);
  told->set_takes_stdin(storable.spec->takes_stdin());
  ASSIGN_OR_RETURN(core::NewJob job, spec::new_job(*storable.spec, ns, call.envelope->correlation_id, in.template_()));
  adopt_trace(call, job);
  job.allow_other_spec = in.allow_other_spec();
  core::Submit submit;
  submit.jobs.push_back(std::move(job));
  RETURN_IF_ERROR(find_key_owners(p.commands.key_horizon(), p.stored.lookups, submit));
  return submit;
}

void queue_job(const JobPorts& p, const Call& call, const v1::QueueJobRequest& in,
               Answer<v1::QueueJobResponse> answer) {
  absl::StatusOr<core::Submit> submit = submission_of(p, call, in, answer.out);
  if (!submit.ok()) return answer.give(submit.status());
  answer->set_sequence(in.sequence());
  const WantedSpecs wanted = {submit->jobs[0].spec};
  p.commands.post_bounded(call.envelope, *std::move(submit),
                          [&p, answer, wanted](const absl::StatusOr<core::Reply>& reply) {
                            if (reply.ok()) fill_submitted(std::get<core::Submitted>(*reply).jobs[0], answer.out);
                            answer_with_keys(p, wanted, reply, answer);
                          });
}

void queue_job_batch(const JobPorts& p, const Call& call, const v1::QueueJobBatchRequest& in,
                     Answer<v1::QueueJobBatchResponse> answer) {
  absl::StatusOr<Batch> batch = batch_of(p, call, in);
  if (!batch.ok()) return answer.give(batch.status());
  WantedSpecs wanted;
  for (const core::NewJob& job : batch->submit.jobs) wanted.push_back(job.spec);
  p.commands.post_bounded(call.envelope, std::move(batch->submit),
                          [&p, answer, wanted = std::move(wanted), notes = std::move(batch->notes)](const auto& reply) {
                            if (reply.ok()) fill_batch(std::get<core::Submitted>(*reply), notes, answer.out);
                            answer_with_keys(p, wanted, reply, answer);
                          });
}

void retry_job(const JobPorts& p, const Call& call, const v1::RetryJobRequest& in,
               Answer<v1::QueueJobResponse> answer) {
  auto submit = std::make_shared<core::Submit>();
  read(
      p.stored, call, kQuick,
      [&p, &in, submit, envelope = call.envelope](const store::ReadLimit&) {
        absl::StatusOr<core::Submit> made = resubmission(p, envelope->correlation_id, in);
        if (made.ok()) *submit = *std::move(made);
        return made.status();
      },
      [&p, submit, answer, envelope = call.envelope](const absl::Status& made) {
        if (!made.ok()) return answer.give(made);
        p.commands.post_bounded(envelope, std::move(*submit), [answer](const absl::StatusOr<core::Reply>& reply) {
          if (reply.ok()) fill_submitted(std::get<core::Submitted>(*reply).jobs[0], answer.out);
          answer.give(reply.status());
        });
      });
}

}  // namespace hodei::api

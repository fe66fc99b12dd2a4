#include "src/api/calls/scheduler/scheduler_calls.h"

#include <set>

#include "src/api/calls/decide.h"
#include "src/api/calls/jobs/call_trace.h"
#include "src/api/calls/jobs/key_conflict.h"
#include "src/api/calls/jobs/submissions.h"
#include "src/api/calls/jobs/waiting_reasons.h"
#include "src/api/calls/read_call.h"
#include "src/api/calls/secrets.h"
#include "src/api/calls/translate.h"
#include "src/base/status.h"
#include "src/spec/secret_values.h"
#include "src/spec/submission.h"

namespace hodei::api {
namespace {

std::optional<double> given_weight(bool has, double value) { return has ? std::optional<double>(value) : std::nullopt; }

absl::StatusOr<core::NewJob> wanted_job(const SchedulerPorts& p, const Call& call, const v1::ScheduleJobRequest& in,
                                        std::string* note) {
  ASSIGN_OR_RETURN(const std::string ns, spec::namespace_of(in.namespace_()));
  v1::QueueJobRequest request;
  if (in.has_spec()) *request.mutable_spec() = in.spec();
  request.set_template_(in.template_());
  *request.mutable_parameters() = in.parameters();
  ASSIGN_OR_RETURN(const v1::JobSpec spec, rendered_spec(request, ns, p.stored.lookups));
  StorableSpec storable;
  RETURN_IF_ERROR(make_storable(spec, ns, {p.vault, p.stored.lookups}, storable));
  ASSIGN_OR_RETURN(core::NewJob job, spec::new_job(*storable.spec, ns, "", in.template_()));
  adopt_trace(call, job);
  *note = storable.note;
  return job;
}

// A finished job's decision is with its last execution. Reads.
absl::Status decision_of_finished(store::Reader& reader, JobId job, v1::SchedulingDecision* out) {
  const absl::StatusOr<store::JobView> view = reader.job(job);
  RETURN_IF_ERROR(view.status());
  out->set_job_id(public_id(job));
  out->set_short_id(short_id(job));
  const core::Past* past = view->head.past.get();
  if (past != nullptr && !past->executions.empty()) {
    to_proto(past->executions.back(), job, out);
  } else {
    out->set_waiting_for(
        cat("nothing: the job is ", core::name(view->head.state), " and was never placed on a worker"));
  }
  return absl::OkStatus();
}

// Fills the decision about a job from what the loop says, or from the store.
void fill_decision(const SchedulerPorts& p, JobId job, const absl::StatusOr<core::Reply>& reply,
                   v1::SchedulingDecision* out, const Done& done) {
  if (absl::IsNotFound(reply.status())) {
    return look_up(
        p.stored, [&p, job, out] { return decision_of_finished(p.stored.reader, job, out); }, done);
  }
  if (reply.ok()) {
    const auto& explanation = std::get<core::Explanation>(*reply);
    to_proto(explanation, out);
    const bool waits = explanation.state == core::JobState::Pending;
    if (std::string text = waits ? broken_input(p.input_trouble, job) : std::string(); !text.empty()) {
      out->set_waiting_for(std::move(text));
      out->set_unblock("nothing; cancel it");
      out->clear_provisioning();
    }
  }
  done(reply.status());
}

void tell_decision(const SchedulerPorts& p, const core::EnvelopePtr& envelope, JobId job,
                   const Answer<v1::ScheduleJobResponse>& answer) {
  answer->set_job_id(public_id(job));
  p.commands.post(envelope, core::Question(core::ExplainJob{job}),
                  [&p, job, answer](const absl::StatusOr<core::Reply>& reply) {
                    fill_decision(p, job, reply, answer->mutable_decision(), answer.give);
                  });
}

absl::StatusOr<core::ConfigureScheduler> configuration(const v1::ConfigureSchedulerRequest& in) {
  core::ConfigureScheduler command;
  if (in.has_strategy()) {
    command.strategy = checked_enum<core::Strategy>(in.strategy());
  }
  if (in.has_packing()) command.packing = checked_enum<core::Packing>(in.packing());
  if (in.has_preemption()) command.preemption = in.preemption();
  if (in.has_reserve_after_ms()) {
    constexpr int64_t kMost = core::kMaxReserveAfter.count() / 1000;
    if (in.reserve_after_ms() < 0 || in.reserve_after_ms() > kMost) {
      return bad_field("reserve_after_ms", "must be between 0 (never) and ", kMost, ", not ", in.reserve_after_ms());
    }
    command.reserve_after = std::chrono::milliseconds(in.reserve_after_ms());
  }
  command.capacity = given_weight(in.has_weight_capacity(), in.weight_capacity());
  command.load = given_weight(in.has_weight_load(), in.weight_load());
  command.affinity = given_weight(in.has_weight_affinity(), in.weight_affinity());
  command.zone = given_weight(in.has_weight_zone(), in.weight_zone());
  command.history = given_weight(in.has_weight_history(), in.weight_history());
  command.threshold = given_weight(in.has_threshold(), in.threshold());
  return command;
}

void fill_queue(const core::QueueReport& q, v1::QueueStatus* out) {
  out->set_pending(q.pending);
  out->set_scheduled(q.scheduled);
  out->set_running(q.running);
  out->set_delayed(q.delayed);
  out->set_held_by_key(q.parked);
  constexpr const char* kNames[] = {"low", "normal", "high", "critical"};
  for (size_t i = 0; i < core::kPriorities; ++i) (*out->mutable_pending_by_priority())[kNames[i]] = q.by_priority[i];
  for (const auto& [ns, count] : q.by_namespace) (*out->mutable_pending_by_namespace())[ns] = count;
  out->set_shapes(q.shapes);
  out->set_workers(q.workers);
  out->set_workers_available(q.workers_available);
  out->set_slots(q.slots);
  out->set_slots_free(q.slots_free);
}

}  // namespace

void schedule_job(const SchedulerPorts& p, const Call& call, const v1::ScheduleJobRequest& in,
                  Answer<v1::ScheduleJobResponse> answer) {
  absl::StatusOr<core::NewJob> job = wanted_job(p, call, in, answer->mutable_note());
  if (!job.ok()) return answer.give(job.status());
  if (in.dry_run()) {
    return decide<core::Explanation>(
        p.commands, call, core::Question(core::PreviewJob{job->head.shape, job->head.ns}), answer,
        [out = answer.out](const core::Explanation& e) { to_proto(e, out->mutable_decision()); });
  }
  if (const absl::Status room = p.check_room(); !room.ok()) return answer.give(room);
  core::Submit submit;
  submit.jobs.push_back(std::move(*job));
  const absl::Status asked = find_key_owners(p.commands.key_horizon(), p.stored.lookups, submit);
  if (!asked.ok()) return answer.give(asked);
  const WantedSpecs wanted = {submit.jobs[0].spec};
  p.commands.post_bounded(call.envelope, std::move(submit),
                          [&p, answer, wanted, envelope = call.envelope](const absl::StatusOr<core::Reply>& reply) {
                            if (!concerns_keys(reply)) {
                              if (!reply.ok()) return answer.give(reply.status());
                              return tell_decision(p, envelope, std::get<core::Submitted>(*reply).jobs[0].job, answer);
                            }
                            look_up(
                                p.stored,
                                [&p, wanted, reply] {
                                  std::string ignored;  // one job: whatever there is to say is its error
                                  return explain_keys(p.stored.reader, wanted, reply, &ignored);
                                },
                                [&p, answer, reply, envelope](const absl::Status& told) {
                                  if (!told.ok()) return answer.give(told);
                                  tell_decision(p, envelope, std::get<core::Submitted>(*reply).jobs[0].job, answer);
                                });
                          });
}

void get_scheduling_decision(const SchedulerPorts& p, const Call& call, const v1::GetSchedulingDecisionRequest& in,
                             Answer<v1::SchedulingDecision> answer) {
  const absl::StatusOr<JobId> id = parse_job_id(in.job_id());
  if (!id.ok()) return answer.give(id.status());
  p.commands.post_bounded(
      call.envelope, core::Question(core::ExplainJob{*id}),
      [&p, answer, id = *id](const absl::StatusOr<core::Reply>& reply) {
        fill_decision(p, id, reply, answer.out, answer.give);
      },
      Commands::Lane::Long);
}

void configure_scheduler(const SchedulerPorts& p, const Call& call, const v1::ConfigureSchedulerRequest& in,
                         Answer<v1::SchedulerConfig> answer) {
  absl::StatusOr<core::ConfigureScheduler> command = configuration(in);
  if (!command.ok()) return answer.give(command.status());
  decide<core::SchedulerConfig>(p.commands, call, *std::move(command), answer,
                                [out = answer.out](const core::SchedulerConfig& config) { to_proto(config, out); });
}

void get_queue_status(const SchedulerPorts& p, const Call& call, const v1::GetQueueStatusRequest&,
                      Answer<v1::QueueStatus> answer) {
  decide<core::QueueReport>(p.commands, call, core::Question(core::DescribeQueue{}), answer,
                            [out = answer.out](const core::QueueReport& q) { fill_queue(q, out); });
}

void get_available_workers(const SchedulerPorts& p, const Call& call, const v1::GetAvailableWorkersRequest& in,
                           Answer<v1::GetAvailableWorkersResponse> answer) {
  v1::JobSpec any;
  any.mutable_command()->mutable_shell()->set_cmd("true");
  // Nothing is stored here: what its secrets hold does not matter to where it would go.
  v1::JobSpec spec = in.has_spec() ? in.spec() : any;
  spec::hide_secrets(spec);
  const absl::StatusOr<std::string> ns = spec::namespace_of(in.namespace_());
  if (!ns.ok()) return answer.give(ns.status());
  const absl::StatusOr<core::NewJob> job = spec::new_job(spec, *ns, "", "");
  if (!job.ok()) return answer.give(job.status());
  p.commands.post_bounded(
      call.envelope, core::Question(core::PreviewJob{job->head.shape, job->head.ns}),
      [&p, answer, envelope = call.envelope](const absl::StatusOr<core::Reply>& preview) {
        if (!preview.ok()) return answer.give(preview.status());
        std::set<WorkerId> fitting;
        for (const core::Candidate& candidate : std::get<core::Explanation>(*preview).candidates) {
          if (candidate.fits) fitting.insert(candidate.worker);
        }
        p.commands.post(
            envelope, core::Question(core::DescribeWorkers{}),
            [answer, fitting = std::move(fitting)](const absl::StatusOr<core::Reply>& reply) {
              if (reply.ok()) {
                for (const core::WorkerView& view : std::get<core::WorkerViews>(*reply).workers) {
                  if (fitting.contains(view.record->info.id)) to_proto(view, answer->add_workers());
                }
              }
              answer.give(reply.status());
            },
            Commands::Lane::Long);
      },
      Commands::Lane::Long);
}

}  // namespace hodei::api

#include "src/api/grpc/scheduler_service.h"

#include "src/api/grpc/admin_service.h"
#include "src/api/grpc/call_trace.h"
#include "src/api/grpc/event_stream.h"
#include "src/api/grpc/key_conflict.h"
#include "src/api/grpc/read_call.h"
#include "src/api/grpc/secrets.h"
#include "src/api/grpc/submissions.h"
#include "src/api/grpc/unary.h"
#include "src/base/status.h"

namespace hodei::api {
namespace {

std::optional<double> given(bool has, double value) { return has ? std::optional<double>(value) : std::nullopt; }

}  // namespace

SchedulerService::Unary* SchedulerService::ScheduleJob(Context* c, const v1::ScheduleJobRequest* in,
                                                       v1::ScheduleJobResponse* out) {
  const absl::StatusOr<std::string> ns = namespace_of(in->namespace_());
  if (!ns.ok()) return finish(c, ns.status());
  StorableSpec storable;
  if (const absl::Status bad = make_storable(in->spec(), *ns, {server_.vault(), server_.lookups()}, storable);
      !bad.ok()) {
    return finish(c, bad);
  }
  absl::StatusOr<core::NewJob> job = new_job(*storable.spec, *ns, "", "");
  if (!job.ok()) return finish(c, job.status());
  adopt_trace(*c, *job);
  if (in->dry_run()) {
    return decide<core::Explanation>(server_, c, core::Question(core::PreviewJob{job->head.shape, job->head.ns}),
                                     [out](const core::Explanation& e) { to_proto(e, out->mutable_decision()); });
  }
  if (const absl::Status room = server_.check_room(); !room.ok()) return finish(c, room);
  core::Submit submit;
  submit.jobs.push_back(std::move(*job));
  const absl::Status asked = find_key_owners(server_.loop().key_horizon(), server_.lookups(), submit);
  if (!asked.ok()) return finish(c, asked);
  Unary* reactor = c->DefaultReactor();
  const WantedSpecs wanted = {submit.jobs[0].spec};
  server_.loop().post_bounded(std::move(submit), [this, reactor, out, wanted](absl::StatusOr<core::Reply> reply) {
    if (!reply.ok() && !concerns_keys(reply)) return reactor->Finish(to_grpc(reply.status()));
    if (!concerns_keys(reply)) return tell_decision(std::get<core::Submitted>(*reply).jobs[0].job, reactor, out);
    const absl::Status taken = server_.reads().post([this, reactor, out, wanted, reply] {
      std::string ignored;  // one job: whatever there is to say is its error
      const absl::Status told = explain_keys(server_.reader(), wanted, reply, &ignored);
      if (!told.ok()) return reactor->Finish(to_grpc(told));
      tell_decision(std::get<core::Submitted>(*reply).jobs[0].job, reactor, out);
    });
    if (!taken.ok()) reactor->Finish(to_grpc(taken));
  });
  return reactor;
}

void SchedulerService::tell_decision(JobId id, Unary* reactor, v1::ScheduleJobResponse* out) {
  out->set_job_id(public_id(id));
  server_.loop().post(
      core::Question(core::ExplainJob{id}), [this, reactor, out, id](absl::StatusOr<core::Reply> answer) {
        if (absl::IsNotFound(answer.status())) {
          return read_then_finish(server_, reactor,
                                  [this, id, out] { return decision_of_finished(id, out->mutable_decision()); });
        }
        if (answer.ok()) to_proto(std::get<core::Explanation>(*answer), out->mutable_decision());
        reactor->Finish(to_grpc(answer.status()));
      });
}

absl::Status SchedulerService::decision_of_finished(JobId job, v1::SchedulingDecision* out) {
  const absl::StatusOr<store::JobView> view = server_.reader().job(job);
  RETURN_IF_ERROR(view.status());
  out->set_job_id(public_id(job));
  out->set_short_id(short_id(job));
  const core::Past* past = view->head.past.get();
  if (past != nullptr && !past->executions.empty()) {
    to_proto(past->executions.back(), job, out);
  } else {
    out->set_waiting_for(cat("nothing: the job is ", core::name(view->head.state), " and never had a worker"));
  }
  return absl::OkStatus();
}

SchedulerService::Unary* SchedulerService::GetSchedulingDecision(Context* c, const v1::GetSchedulingDecisionRequest* in,
                                                                 v1::SchedulingDecision* out) {
  const absl::StatusOr<JobId> id = parse_job_id(in->job_id());
  if (!id.ok()) return finish(c, id.status());
  Unary* reactor = c->DefaultReactor();
  server_.loop().post_bounded(core::Question(core::ExplainJob{*id}), [this, reactor, out, id = *id](auto reply) {
    if (absl::IsNotFound(reply.status())) {
      return read_then_finish(server_, reactor, [this, id, out] { return decision_of_finished(id, out); });
    }
    if (reply.ok()) to_proto(std::get<core::Explanation>(*reply), out);
    reactor->Finish(to_grpc(reply.status()));
  });
  return reactor;
}

SchedulerService::Unary* SchedulerService::ConfigureScheduler(Context* c, const v1::ConfigureSchedulerRequest* in,
                                                              v1::SchedulerConfig* out) {
  core::ConfigureScheduler command;
  if (in->has_strategy()) {
    command.strategy = checked_enum<core::Strategy>(in->strategy());
  }
  if (in->has_packing()) command.packing = checked_enum<core::Packing>(in->packing());
  if (in->has_preemption()) command.preemption = in->preemption();
  if (in->has_reserve_after_ms()) {
    constexpr int64_t kMost = core::kMaxReserveAfter.count() / 1000;
    if (in->reserve_after_ms() < 0 || in->reserve_after_ms() > kMost) {
      return finish(
          c, bad_field("reserve_after_ms", "must be between 0 (never) and ", kMost, ", not ", in->reserve_after_ms()));
    }
    command.reserve_after = std::chrono::milliseconds(in->reserve_after_ms());
  }
  command.capacity = given(in->has_weight_capacity(), in->weight_capacity());
  command.load = given(in->has_weight_load(), in->weight_load());
  command.affinity = given(in->has_weight_affinity(), in->weight_affinity());
  command.zone = given(in->has_weight_zone(), in->weight_zone());
  command.history = given(in->has_weight_history(), in->weight_history());
  command.threshold = given(in->has_threshold(), in->threshold());
  command.principal = principal_of(*c);
  return decide<core::SchedulerConfig>(server_, c, command,
                                       [out](const core::SchedulerConfig& config) { to_proto(config, out); });
}

SchedulerService::Unary* SchedulerService::GetQueueStatus(Context* c, const v1::GetQueueStatusRequest*,
                                                          v1::QueueStatus* out) {
  return decide<core::QueueReport>(server_, c, core::Question(core::DescribeQueue{}),
                                   [out](const core::QueueReport& q) {
                                     out->set_pending(q.pending);
                                     out->set_scheduled(q.scheduled);
                                     out->set_running(q.running);
                                     out->set_delayed(q.delayed);
                                     out->set_held_by_key(q.parked);
                                     constexpr const char* kNames[] = {"low", "normal", "high", "critical"};
                                     for (size_t i = 0; i < core::kPriorities; ++i)
                                       (*out->mutable_pending_by_priority())[kNames[i]] = q.by_priority[i];
                                     for (const auto& [ns, count] : q.by_namespace)
                                       (*out->mutable_pending_by_namespace())[ns] = count;
                                     out->set_shapes(q.shapes);
                                     out->set_workers(q.workers);
                                     out->set_workers_available(q.workers_available);
                                     out->set_slots(q.slots);
                                     out->set_slots_free(q.slots_free);
                                   });
}

SchedulerService::Unary* SchedulerService::GetAvailableWorkers(Context* c, const v1::GetAvailableWorkersRequest* in,
                                                               v1::GetAvailableWorkersResponse* out) {
  v1::JobSpec any;
  any.mutable_command()->mutable_shell()->set_cmd("true");
  // Nothing is stored here: what its secrets hold does not matter to where it would go.
  v1::JobSpec spec = in->has_spec() ? in->spec() : any;
  hide_secrets(spec);
  const absl::StatusOr<std::string> ns = namespace_of(in->namespace_());
  if (!ns.ok()) return finish(c, ns.status());
  const absl::StatusOr<core::NewJob> job = new_job(spec, *ns, "", "");
  if (!job.ok()) return finish(c, job.status());
  Unary* reactor = c->DefaultReactor();
  server_.loop().post_bounded(
      core::Question(core::PreviewJob{job->head.shape, job->head.ns}), [this, reactor, out](auto preview) {
        if (!preview.ok()) return reactor->Finish(to_grpc(preview.status()));
        std::set<WorkerId> fitting;
        for (const core::Candidate& candidate : std::get<core::Explanation>(*preview).candidates) {
          if (candidate.fits) fitting.insert(candidate.worker);
        }
        server_.loop().post(core::Question(core::DescribeWorkers{}),
                            [reactor, out, fitting](absl::StatusOr<core::Reply> reply) {
                              if (reply.ok()) {
                                for (const core::WorkerView& view : std::get<core::WorkerViews>(*reply).workers) {
                                  if (fitting.contains(view.record->info.id)) to_proto(view, out->add_workers());
                                }
                              }
                              reactor->Finish(to_grpc(reply.status()));
                            });
      });
  return reactor;
}

grpc::ServerWriteReactor<v1::SchedulingDecision>* SchedulerService::SchedulingDecisionStream(
    Context*, const v1::SchedulingDecisionStreamRequest* in) {
  return start_decision_stream(server_, *in);
}

}  // namespace hodei::api

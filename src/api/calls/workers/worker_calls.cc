#include "src/api/calls/workers/worker_calls.h"

#include <algorithm>

#include "src/api/calls/decide.h"
#include "src/api/calls/envelope.h"
#include "src/api/calls/session.h"
#include "src/api/calls/translate.h"
#include "src/api/calls/workers/worker_messages.h"
#include "src/base/clip.h"
#include "src/base/random.h"
#include "src/base/sha256.h"
#include "src/base/status.h"
#include "src/base/version.h"

namespace hodei::api {
namespace {

constexpr int kHeartbeatsPerLease = 3;
constexpr size_t kMaxLeaveReason = 1000;  // characters

int64_t milliseconds(Duration d) { return d.count() / 1000; }

absl::StatusOr<uint32_t> negotiate(uint32_t low, uint32_t high) {
  const uint32_t chosen = std::min(high, kProtocolMax);
  if (chosen >= std::max(low, kProtocolMin)) return chosen;
  return absl::FailedPreconditionError(cat("protocol: this server supports versions ", kProtocolMin, " to ",
                                           kProtocolMax, ", the worker ", low, " to ", high,
                                           "; upgrade the older of the two"));
}

// Without its credentials.
absl::StatusOr<core::RegisterWorker> registration(const v1::RegisterRequest& in) {
  core::RegisterWorker command;
  ASSIGN_OR_RETURN(command.info, from_proto(in.info()));
  if (in.incarnation().empty() || in.incarnation().size() > 100) {
    return bad_field("incarnation", "is required: a random string, new every time the worker starts");
  }
  RETURN_IF_ERROR(check_lineage("lineage", in.lineage()));
  ASSIGN_OR_RETURN(command.stopped, stopped_from("stopped", in.stopped()));
  command.incarnation = in.incarnation();
  command.lineage = in.lineage();
  command.generation = in.generation();
  return command;
}

void record_refusal(const WorkerPorts& p, const core::EnvelopePtr& envelope, const std::string& worker,
                    const absl::Status& why) {
  if (!p.refusals.has_room(p.clock.now().mono)) return;
  // Nobody knows who it was: the trail has the address alone.
  p.commands.post(envelope,
                  core::RecordAudit{{.principal = envelope->principal.source,
                                     .action = "worker.refused",
                                     .subject = worker,
                                     .detail = std::string(why.message())}},
                  nullptr);
}

absl::Status check_leave_reason(const std::string& reason) {
  if (reason.size() <= kMaxLeaveReason) return absl::OkStatus();
  return bad_field("reason", "must have at most ", kMaxLeaveReason, " characters");
}

void fill_first(const core::WorkerViews& views, v1::Worker* out) { to_proto(views.workers.at(0), out); }

}  // namespace

bool RefusalLimit::has_room(MonoTime now) {
  const std::lock_guard lock(mutex_);
  if (now - minute_began_ >= std::chrono::minutes(1)) {
    minute_began_ = now;
    refusals_ = 0;
  }
  return ++refusals_ <= kMaxRefusalsPerMinute;
}

void register_worker(const WorkerPorts& p, const Call& call, const v1::RegisterRequest& in,
                     Answer<v1::RegisterResponse> answer) {
  const absl::StatusOr<uint32_t> protocol = negotiate(in.protocol_min(), in.protocol_max());
  if (!protocol.ok()) return answer.give(protocol.status());
  absl::StatusOr<core::RegisterWorker> command = registration(in);
  if (!command.ok()) return answer.give(command.status());
  std::string session = in.session_id();
  if (!session.empty()) {
    command->session = secret_hash(session);
  } else {
    session = random_uuid();
    command->otp = secret_hash(in.auth_token());
    command->new_session = secret_hash(session);
  }
  answer->set_protocol(*protocol);
  answer->set_heartbeat_ms(milliseconds(p.lease / kHeartbeatsPerLease));
  answer->set_lease_ms(milliseconds(p.lease));
  answer->set_server_version(kVersion);
  p.commands.post_bounded(
      as_worker(*call.envelope, in.info().id()), *std::move(command),
      [&p, &in, answer, session, envelope = call.envelope](const absl::StatusOr<core::Reply>& reply) {
        if (reply.ok()) answer->set_session_id(session);
        if (absl::IsUnauthenticated(reply.status())) record_refusal(p, envelope, in.info().id(), reply.status());
        answer.give(reply.status());
      });
}

void update_worker_status(const WorkerPorts& p, const Call& call, const v1::UpdateWorkerStatusRequest& in,
                          Answer<v1::UpdateWorkerStatusResponse> answer) {
  decide_for_worker(
      {p.commands, p.refused}, call,
      [&in](const WorkerId& worker) -> absl::StatusOr<core::Command> {
        core::Heartbeat beat;
        beat.worker = worker;
        beat.cpu_load = in.heartbeat().cpu_load();
        beat.memory_used_mb = in.heartbeat().memory_used_mb();
        beat.dropped_logs = in.heartbeat().dropped_logs();
        beat.unfit = unfit_from(in.heartbeat().status());
        beat.active = active_from(in.heartbeat());
        return core::Command(beat);
      },
      [answer](const absl::StatusOr<core::Reply>& reply) {
        if (reply.ok()) {
          for (const std::string& one : std::get<core::HeartbeatTaken>(*reply).instructions)
            answer->add_instructions(one);
        }
        answer.give(reply.status());
      });
}

void unregister_worker(const WorkerPorts& p, const Call& call, const v1::UnregisterWorkerRequest& in,
                       Answer<v1::UnregisterWorkerResponse> answer) {
  decide_for_worker(
      {p.commands, p.refused}, call,
      [&p, &in](const WorkerId& worker) -> absl::StatusOr<core::Command> {
        if (in.worker_id().empty() || in.worker_id() == worker.str()) {
          return core::Command(
              core::UnregisterWorker{worker, std::string(clip(in.reason(), kMaxLeaveReason)), true, in.incarnation()});
        }
        p.refused.count(server::Claim::Worker);
        return absl::PermissionDeniedError(
            cat("worker_id: the session belongs to worker ", worker.str(), ", which can only unregister itself"));
      },
      [answer](const absl::StatusOr<core::Reply>& reply) { answer.give(reply.status()); });
}

void remove_worker(const WorkerPorts& p, const Call& call, const v1::RemoveWorkerRequest& in,
                   Answer<v1::RemoveWorkerResponse> answer) {
  if (const absl::Status bad = check_leave_reason(in.reason()); !bad.ok()) return answer.give(bad);
  if (in.worker_id().empty()) return answer.give(bad_field("worker_id", "must not be empty"));
  decide<core::Done>(p.commands, call, core::UnregisterWorker{WorkerId(in.worker_id()), in.reason(), false},
                     std::move(answer), [](const core::Done&) {});
}

void list_workers(const WorkerPorts& p, const Call& call, const v1::ListWorkersRequest& in,
                  Answer<v1::ListWorkersResponse> answer) {
  decide<core::WorkerViews>(
      p.commands, call, core::Question(core::DescribeWorkers{}), answer,
      [out = answer.out, all = in.include_terminated()](const core::WorkerViews& views) {
        for (const core::WorkerView& view : views.workers) {
          if (all || view.state != core::WorkerState::Terminated) to_proto(view, out->add_workers());
        }
      },
      Commands::Lane::Long);
}

void get_worker(const WorkerPorts& p, const Call& call, const v1::GetWorkerRequest& in, Answer<v1::Worker> answer) {
  if (in.worker_id().empty()) return answer.give(bad_field("worker_id", "must not be empty"));
  decide<core::WorkerViews>(p.commands, call, core::Question(core::DescribeWorkers{in.worker_id(), true}), answer,
                            [out = answer.out](const core::WorkerViews& views) { fill_first(views, out); });
}

void drain_worker(const WorkerPorts& p, const Call& call, const v1::DrainWorkerRequest& in,
                  Answer<v1::DrainWorkerResponse> answer) {
  if (const absl::Status bad = check_leave_reason(in.reason()); !bad.ok()) return answer.give(bad);
  decide<core::Drained>(
      p.commands, call, core::DrainWorker{WorkerId(in.worker_id()), in.reason()}, answer,
      [out = answer.out](const core::Drained& d) { out->set_executions_left(static_cast<int>(d.executions_left)); });
}

void undrain_worker(const WorkerPorts& p, const Call& call, const v1::UndrainWorkerRequest& in,
                    Answer<v1::Worker> answer) {
  decide<core::WorkerViews>(p.commands, call, core::UndrainWorker{WorkerId(in.worker_id())}, answer,
                            [out = answer.out](const core::WorkerViews& views) { fill_first(views, out); });
}

void taint_worker(const WorkerPorts& p, const Call& call, const v1::TaintWorkerRequest& in, Answer<v1::Worker> answer) {
  decide<core::WorkerViews>(p.commands, call, core::TaintWorker{WorkerId(in.worker_id()), from_proto(in.taints())},
                            answer, [out = answer.out](const core::WorkerViews& views) { fill_first(views, out); });
}

void create_otp(const WorkerPorts& p, const Call& call, const v1::CreateOtpRequest& in,
                Answer<v1::CreateOtpResponse> answer) {
  const std::string token = random_uuid();
  const WorkerId worker(in.worker_id());
  decide<core::OtpMade>(p.commands, call, core::MakeOtp{secret_hash(token), worker}, answer,
                        [out = answer.out, token](const core::OtpMade& made) {
                          out->set_token(token);
                          out->set_worker_id(made.worker.str());
                          set_time(made.expires, out->mutable_expires_at());
                        });
}

}  // namespace hodei::api

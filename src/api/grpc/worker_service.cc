#include "src/api/grpc/worker_service.h"

#include "src/api/grpc/admin_service.h"
#include "src/api/grpc/session_call.h"
#include "src/api/grpc/unary.h"
#include "src/api/grpc/worker_link.h"
#include "src/api/grpc/worker_messages.h"
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

}  // namespace

WorkerService::Unary* WorkerService::Register(Context* c, const v1::RegisterRequest* in, v1::RegisterResponse* out) {
  const absl::StatusOr<uint32_t> protocol = negotiate(in->protocol_min(), in->protocol_max());
  if (!protocol.ok()) return finish(c, protocol.status());
  absl::StatusOr<core::WorkerInfo> info = from_proto(in->info());
  if (!info.ok()) return finish(c, info.status());
  if (in->incarnation().empty() || in->incarnation().size() > 100) {
    return finish(c, bad_field("incarnation", "is required: a random string, new every time the worker starts"));
  }
  if (absl::Status bad = check_lineage("lineage", in->lineage()); !bad.ok()) return finish(c, bad);
  absl::StatusOr<std::vector<std::string>> stopped = stopped_from("stopped", in->stopped());
  if (!stopped.ok()) return finish(c, stopped.status());
  core::RegisterWorker command;
  command.stopped = std::move(*stopped);
  command.info = std::move(*info);
  command.incarnation = in->incarnation();
  command.lineage = in->lineage();
  command.generation = in->generation();
  command.principal = cat("worker ", in->info().id(), " (", c->peer(), ")");
  std::string session = in->session_id();
  if (!session.empty()) {
    command.session = secret_hash(session);
  } else {
    session = random_uuid();
    command.otp = secret_hash(in->auth_token());
    command.new_session = secret_hash(session);
  }
  const Duration lease = server_.options().engine.unhealthy_after;
  out->set_protocol(*protocol);
  out->set_heartbeat_ms(milliseconds(lease / kHeartbeatsPerLease));
  out->set_lease_ms(milliseconds(lease));
  out->set_server_version(kVersion);
  Unary* reactor = c->DefaultReactor();
  server_.loop().post_bounded(std::move(command),
                              [this, c, in, out, session, reactor](absl::StatusOr<core::Reply> reply) {
                                if (reply.ok()) out->set_session_id(session);
                                if (absl::IsUnauthenticated(reply.status()))
                                  record_refusal(*c, in->info().id(), reply.status());
                                reactor->Finish(to_grpc(reply.status()));
                              });
  return reactor;
}

void WorkerService::record_refusal(const Context& c, const std::string& worker, const absl::Status& why) {
  {
    const std::lock_guard lock(mutex_);
    const MonoTime now = server_.clock().now().mono;
    if (now - minute_began_ >= std::chrono::minutes(1)) {
      minute_began_ = now;
      refusals_ = 0;
    }
    if (++refusals_ > kMaxRefusalsPerMinute) return;
  }
  server_.loop().post(
      core::RecordAudit{
          {.principal = c.peer(), .action = "worker.refused", .subject = worker, .detail = std::string(why.message())}},
      nullptr);
}

grpc::ServerBidiReactor<v1::WorkerMessage, v1::ServerMessage>* WorkerService::WorkerStream(Context*) {
  return std::make_shared<WorkerStreamLink>(server_)->start();
}

WorkerService::Unary* WorkerService::UpdateWorkerStatus(Context* c, const v1::UpdateWorkerStatusRequest* in,
                                                        v1::UpdateWorkerStatusResponse* out) {
  return decide_for_worker(
      server_, c,
      [in](const WorkerId& worker) -> absl::StatusOr<core::Command> {
        core::Heartbeat beat;
        beat.worker = worker;
        beat.cpu_load = in->heartbeat().cpu_load();
        beat.memory_used_mb = in->heartbeat().memory_used_mb();
        beat.dropped_logs = in->heartbeat().dropped_logs();
        beat.unfit = unfit_from(in->heartbeat().status());
        beat.active = active_from(in->heartbeat());
        return core::Command(beat);
      },
      [out](const core::Reply& reply) {
        for (const std::string& one : std::get<core::HeartbeatTaken>(reply).instructions) out->add_instructions(one);
      });
}

WorkerService::Unary* WorkerService::UnregisterWorker(Context* c, const v1::UnregisterWorkerRequest* in,
                                                      v1::UnregisterWorkerResponse*) {
  return decide_for_worker(
      server_, c,
      [this, in, peer = c->peer()](const WorkerId& worker) -> absl::StatusOr<core::Command> {
        if (in->worker_id().empty() || in->worker_id() == worker.str()) {
          return core::Command(core::UnregisterWorker{worker, std::string(clip(in->reason(), kMaxLeaveReason)), true,
                                                      cat("worker ", worker.str(), " (", peer, ")"),
                                                      in->incarnation()});
        }
        server_.refused_claims().count(server::Claim::Worker);
        return absl::PermissionDeniedError(
            cat("worker_id: the session belongs to worker ", worker.str(), ", which can only unregister itself"));
      },
      [](const core::Reply&) {});
}

WorkerService::Unary* WorkerService::RemoveWorker(Context* c, const v1::RemoveWorkerRequest* in,
                                                  v1::RemoveWorkerResponse*) {
  if (in->reason().size() > kMaxLeaveReason)
    return finish(c, bad_field("reason", "must have at most ", kMaxLeaveReason, " characters"));
  if (in->worker_id().empty()) return finish(c, bad_field("worker_id", "must not be empty"));
  return decide<core::Done>(server_, c,
                            core::UnregisterWorker{WorkerId(in->worker_id()), in->reason(), false, principal_of(*c)},
                            [](const core::Done&) {});
}

WorkerService::Unary* WorkerService::ListWorkers(Context* c, const v1::ListWorkersRequest* in,
                                                 v1::ListWorkersResponse* out) {
  return decide<core::WorkerViews>(server_, c, core::Question(core::DescribeWorkers{}),
                                   [out, all = in->include_terminated()](const core::WorkerViews& views) {
                                     for (const core::WorkerView& view : views.workers) {
                                       if (all || view.state != core::WorkerState::Terminated)
                                         to_proto(view, out->add_workers());
                                     }
                                   });
}

WorkerService::Unary* WorkerService::GetWorker(Context* c, const v1::GetWorkerRequest* in, v1::Worker* out) {
  if (in->worker_id().empty()) return finish(c, bad_field("worker_id", "must not be empty"));
  return decide<core::WorkerViews>(server_, c, core::Question(core::DescribeWorkers{in->worker_id(), true}),
                                   [out](const core::WorkerViews& views) { to_proto(views.workers.at(0), out); });
}

WorkerService::Unary* WorkerService::DrainWorker(Context* c, const v1::DrainWorkerRequest* in,
                                                 v1::DrainWorkerResponse* out) {
  if (in->reason().size() > kMaxLeaveReason)
    return finish(c, bad_field("reason", "must have at most ", kMaxLeaveReason, " characters"));
  return decide<core::Drained>(
      server_, c, core::DrainWorker{WorkerId(in->worker_id()), in->reason(), principal_of(*c)},
      [out](const core::Drained& d) { out->set_executions_left(static_cast<int>(d.executions_left)); });
}

WorkerService::Unary* WorkerService::UndrainWorker(Context* c, const v1::UndrainWorkerRequest* in, v1::Worker* out) {
  return decide<core::WorkerViews>(server_, c, core::UndrainWorker{WorkerId(in->worker_id()), principal_of(*c)},
                                   [out](const core::WorkerViews& views) { to_proto(views.workers.at(0), out); });
}

WorkerService::Unary* WorkerService::TaintWorker(Context* c, const v1::TaintWorkerRequest* in, v1::Worker* out) {
  return decide<core::WorkerViews>(
      server_, c, core::TaintWorker{WorkerId(in->worker_id()), from_proto(in->taints()), principal_of(*c)},
      [out](const core::WorkerViews& views) { to_proto(views.workers.at(0), out); });
}

WorkerService::Unary* WorkerService::CreateOtp(Context* c, const v1::CreateOtpRequest* in, v1::CreateOtpResponse* out) {
  const std::string token = random_uuid();
  const WorkerId worker(in->worker_id());
  return decide<core::OtpMade>(server_, c, core::MakeOtp{secret_hash(token), worker, principal_of(*c)},
                               [out, token](const core::OtpMade& made) {
                                 out->set_token(token);
                                 out->set_worker_id(made.worker.str());
                                 set_time(made.expires, out->mutable_expires_at());
                               });
}

}  // namespace hodei::api

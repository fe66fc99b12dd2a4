#include "src/api/grpc/admin_service.h"

#include <unistd.h>

#include <fstream>

#include "src/api/grpc/unary.h"
#include "src/base/version.h"

namespace hodei::api {
namespace {

int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0;
  int64_t resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace

grpc::ServerUnaryReactor* AdminService::GetSystemStatus(grpc::CallbackServerContext* c,
                                                        const v1::GetSystemStatusRequest*, v1::SystemStatus* out) {
  grpc::ServerUnaryReactor* reactor = c->DefaultReactor();
  server_.loop().post(core::Question(core::DescribeSystem{}), [this, reactor, out](absl::StatusOr<core::Reply> reply) {
    // A server that cannot reach its store still says so.
    fill(reply.ok() ? std::get<core::SystemReport>(*reply) : core::SystemReport{}, out);
    reactor->Finish(grpc::Status::OK);
  });
  return reactor;
}

void AdminService::fill(const core::SystemReport& report, v1::SystemStatus* out) {
  const server::SystemAssessment state = server::assess(server_.facts(report));
  const server::LoopHealth health = server_.loop().health();
  out->set_state(static_cast<v1::SystemStatus::State>(state.state));
  out->set_reason(state.reason);
  out->set_version(kVersion);
  out->set_epoch(static_cast<uint64_t>(health.epoch));
  set_time(server_.started(), out->mutable_started_at());
  out->set_jobs_pending(report.pending);
  out->set_jobs_running(report.active);
  out->set_workers(report.workers);
  out->set_workers_unhealthy(report.unhealthy);
  out->set_store("sqlite");
  out->set_data_dir(server_.options().data_dir);
  out->set_server_pid(getpid());
  const LocalWorker worker = local_worker_();
  out->set_supervisor_pid(worker.supervisor_pid);
  out->set_agent_pid(worker.agent_pid);
  out->set_address(address_);
  out->set_commits(static_cast<int64_t>(health.commits));
  out->set_memory_bytes(resident_bytes());
  const server::LogHubStats logs = server_.logs().stats();
  out->set_log_batches(logs.appended_pieces);
  out->set_log_lines(logs.appended_lines);
  out->set_log_bytes(logs.appended_bytes);
  for (const server::ServiceHealth& one : server_.service_health()) {
    v1::ServiceHealth* service = out->add_services();
    service->set_name(std::string(one.name));
    service->set_serving(one.serving);
    service->set_reason(one.reason);
  }
}

}  // namespace hodei::api

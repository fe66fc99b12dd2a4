#include <unistd.h>

#include <fstream>

#include "src/api/calls/admin/admin_calls.h"
#include "src/base/version.h"
#include "src/spec/timestamp.h"

namespace hodei::api {
namespace {

int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0;
  int64_t resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

void fill_status(const SystemDescription& system, const core::SystemReport& report, v1::SystemStatus* out) {
  out->set_state(static_cast<v1::SystemStatus::State>(system.state.state));
  out->set_reason(system.state.reason);
  out->set_version(kVersion);
  out->set_epoch(system.epoch);
  spec::set_time(system.started, out->mutable_started_at());
  out->set_jobs_pending(report.pending);
  out->set_jobs_running(report.active);
  out->set_workers(report.workers);
  out->set_workers_unhealthy(report.unhealthy);
  out->set_store("sqlite");
  out->set_data_dir(system.data_dir);
  out->set_server_pid(getpid());
  out->set_supervisor_pid(system.worker.supervisor_pid);
  out->set_agent_pid(system.worker.agent_pid);
  out->set_address(system.address);
  out->set_commits(static_cast<int64_t>(system.commits));
  out->set_memory_bytes(resident_bytes());
  out->set_log_batches(system.logs.appended_pieces);
  out->set_log_lines(system.logs.appended_lines);
  out->set_log_bytes(system.logs.appended_bytes);
  for (const server::ServiceHealth& one : system.services) {
    v1::ServiceHealth* service = out->add_services();
    service->set_name(std::string(one.name));
    service->set_serving(one.serving);
    service->set_reason(one.reason);
  }
}

}  // namespace

void get_system_status(const AdminPorts& p, const Call& call, const v1::GetSystemStatusRequest&,
                       Answer<v1::SystemStatus> answer) {
  p.commands.post(
      call.envelope, core::Question(core::DescribeSystem{}), [&p, answer](const absl::StatusOr<core::Reply>& reply) {
        // A server that cannot reach its store still says so.
        const core::SystemReport report = reply.ok() ? std::get<core::SystemReport>(*reply) : core::SystemReport{};
        fill_status(p.system.describe(report), report, answer.out);
        answer.give(absl::OkStatus());
      });
}

}  // namespace hodei::api

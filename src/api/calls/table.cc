#include "src/api/calls/table.h"

#include "src/api/calls/admin/admin_calls.h"
#include "src/api/calls/artifacts/artifact_calls.h"
#include "src/api/calls/inputs/input_calls.h"
#include "src/api/calls/jobs/job_calls.h"
#include "src/api/calls/logs/log_calls.h"
#include "src/api/calls/metrics/metrics_calls.h"
#include "src/api/calls/providers/provider_calls.h"
#include "src/api/calls/scheduler/scheduler_calls.h"
#include "src/api/calls/workers/worker_calls.h"

namespace hodei::api {
namespace {

// Writes down the lines of one service.
class LineWriter {
 public:
  LineWriter(std::string_view service, std::vector<TableLine>& out) : service_(service), out_(out) {}

  template <class Function>
  void unary(const CallLine& line, Function*) {
    out_.push_back({service_, line, CallKind::Unary});
  }
  template <class Function>
  void source(const CallLine& line, Function*) {
    out_.push_back({service_, line, CallKind::Source});
  }
  void by_hand(const CallLine& line) { out_.push_back({service_, line, CallKind::ByHand}); }

 private:
  const std::string_view service_;
  std::vector<TableLine>& out_;
};

std::vector<TableLine> whole_table() {
  std::vector<TableLine> out;
  const auto add = [&out](std::string_view service, auto lines) {
    LineWriter writer(service, out);
    lines(writer);
  };
  add("hodei.v1.AdminService", [](auto& v) { admin_lines(v); });
  add("hodei.v1.ArtifactService", [](auto& v) { artifact_lines(v); });
  add("hodei.v1.JobExecutionService", [](auto& v) { job_lines(v); });
  add("hodei.v1.JobInputService", [](auto& v) { input_lines(v); });
  add("hodei.v1.LogStreamService", [](auto& v) { log_lines(v); });
  add("hodei.v1.MetricsService", [](auto& v) { metrics_lines(v); });
  add("hodei.v1.ProviderManagementService", [](auto& v) { provider_lines(v); });
  add("hodei.v1.SchedulerService", [](auto& v) { scheduler_lines(v); });
  add("hodei.v1.WorkerAgentService", [](auto& v) { worker_lines(v); });
  return out;
}

}  // namespace

const std::vector<TableLine>& call_table() {
  static const std::vector<TableLine> table = whole_table();
  return table;
}

}  // namespace hodei::api

#include "src/cli/session/local_commands.h"

#include <unistd.h>

#include <filesystem>

#include "src/base/ids.h"
#include "src/base/status.h"
#include "src/cli/session/settings.h"
#include "src/cli/terminal/surroundings.h"
#include "src/cli/text/label_rules.h"
#include "src/cli/text/quantities.h"
#include "src/cli/text/suggestion.h"

namespace hodei::cli {
namespace {

constexpr Duration kDevWorkerLeavesAfter = 1h;

// Jobs run in folders of their own, so paths that they get must not be relative to our working folder.
std::string absolute(const std::string& path) { return std::filesystem::absolute(path).lexically_normal().string(); }

std::string data_dir(const Settings& settings, const Surroundings& surroundings) {
  if (const std::string given = settings.text("data_dir"); !given.empty()) return absolute(given);
  if (::geteuid() == 0) return "/var/lib/hodei";
  const std::string xdg = surroundings.env_or("XDG_DATA_HOME", "");
  if (!xdg.empty()) return cat(xdg, "/hodei");
  return absolute(cat(surroundings.env_or("HOME", "."), "/.local/share/hodei"));
}

}  // namespace

absl::StatusOr<WorkerTaint> parse_taint(std::string_view text) {
  const std::vector<std::string> effects = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
  WorkerTaint taint;
  taint.effect = effects[0];
  if (const size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    taint.effect = std::string(text.substr(colon + 1));
    text = text.substr(0, colon);
    if (std::find(effects.begin(), effects.end(), taint.effect) == effects.end()) {
      return bad_field("taint", "'", taint.effect, "' is not one of NoSchedule, PreferNoSchedule, NoExecute",
                       did_you_mean(taint.effect, effects));
    }
  }
  const size_t equals = text.find('=');
  taint.key = std::string(text.substr(0, equals));
  if (equals != std::string_view::npos) taint.value = std::string(text.substr(equals + 1));
  RETURN_IF_ERROR(check_name("taint", taint.key));
  return taint;
}

absl::StatusOr<ServerOptions> server_options(const Settings& settings, const Surroundings& surroundings) {
  ServerOptions out;
  out.data_dir = data_dir(settings, surroundings);
  ASSIGN_OR_RETURN(out.listen, parse_address(settings.text("listen")));
  out.database_url = settings.text("database_url");
  out.log_retention_age = settings.duration("log_retention_age");
  out.log_retention_bytes = settings.bytes("log_retention_size");
  out.audit_retention_age = settings.duration("audit_retention_age");
  out.job_retention_age = settings.duration("job_retention_age");
  out.job_retention_count = settings.count("job_retention_count");
  out.secret_key = settings.text("secret_key");
  out.secret_key_file = settings.text("secret_key_file");
  out.artifact_retention_age = settings.duration("artifact_retention_age");
  out.artifact_store_bytes = settings.bytes("artifact_store_size");
  out.stdin_bytes = settings.bytes("stdin_size");
  out.stdin_store_bytes = settings.bytes("stdin_store_size");
  out.stdin_wait = settings.duration("stdin_wait");
  out.queue_memory = settings.bytes("queue_memory");
  out.lease = settings.duration("lease");
  out.provision_limit = settings.duration("provision_limit");
  out.registration_limit = settings.duration("registration_limit");
  out.otp_life = settings.duration("otp_life");
  out.log_level = settings.text("log_level");
  ASSIGN_OR_RETURN(out.http_listen, parse_listen(settings.text("http_listen")));
  out.http_was_chosen = settings.get("http_listen").origin != "default";
  out.metrics_retention_age = settings.duration("metrics_retention_age");
  out.otlp_endpoint = settings.text("otlp_endpoint");
  out.advertise = settings.text("advertise");
  out.process_enabled = settings.on_or_off("process_enabled");
  out.docker_enabled = settings.on_or_off("docker_enabled");
  out.k8s_enabled = settings.on_or_off("k8s_enabled");
  out.fc_enabled = settings.on_or_off("fc_enabled");
  return out;
}

absl::StatusOr<AgentOptions> agent_options(const Settings& settings, const Surroundings& surroundings) {
  AgentOptions out;
  ASSIGN_OR_RETURN(out.servers, parse_addresses(settings.text("server")));
  out.token = settings.text("token");
  out.worker_id = settings.text("worker_id");
  out.name = settings.text("worker_name");
  out.slots = static_cast<int>(settings.count("slots"));
  out.job_processes = settings.count("job_processes");
  out.cgroups = settings.text("cgroups");
  out.job_log_bytes = settings.bytes("job_log_size");
  out.log_batch_lines = settings.count("log_batch_lines");
  out.log_batch_interval = settings.duration("log_batch_interval");
  out.stop_grace = settings.duration("stop_grace");
  out.leave_after = settings.duration("leave_after");
  out.provider = settings.text("worker_provider");
  out.isolation = settings.text("worker_isolation");
  out.image = settings.text("worker_image");
  out.cpu_milli = parse_cores(settings.text("worker_cpu")).value();
  out.memory_bytes = settings.bytes("worker_memory");
  out.gpus = settings.count("worker_gpus");
  ASSIGN_OR_RETURN(out.labels, parse_key_values("label", settings.list("labels")));
  for (const std::string& text : settings.list("taints")) {
    ASSIGN_OR_RETURN(WorkerTaint taint, parse_taint(text));
    out.taints.push_back(std::move(taint));
  }
  out.pool = settings.text("pool");
  const std::string state_dir = settings.text("state_dir");
  out.state_dir = state_dir.empty() ? cat(data_dir(settings, surroundings), "/worker") : absolute(state_dir);
  out.log_level = settings.text("log_level");
  out.metrics_listen = settings.text("metrics_listen");
  return out;
}

absl::StatusOr<DevOptions> dev_options(const Settings& settings, const Surroundings& surroundings) {
  DevOptions out;
  ASSIGN_OR_RETURN(out.server, server_options(settings, surroundings));
  ASSIGN_OR_RETURN(out.agent, agent_options(settings, surroundings));
  out.agent.servers = {out.server.listen};
  if (settings.get("leave_after").origin == "default") out.agent.leave_after = kDevWorkerLeavesAfter;
  return out;
}

}  // namespace hodei::cli

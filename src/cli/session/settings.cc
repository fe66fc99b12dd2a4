#include "src/cli/session/settings.h"

#include "src/base/ids.h"
#include "src/base/status.h"
#include "src/cli/session/local_commands.h"
#include "src/cli/terminal/surroundings.h"
#include "src/cli/text/address.h"
#include "src/cli/text/label_rules.h"
#include "src/cli/text/quantities.h"
#include "src/cli/text/suggestion.h"

namespace hodei::cli {
namespace {

constexpr int64_t kMostSlots = 10'000;
constexpr int64_t kMostBatchLines = 10'000;
constexpr int64_t kMostProcesses = 4'000'000;  // more than a kernel counts
// Below, a busy machine would lose leases that nothing is wrong with.
constexpr Duration kShortestLease = 3s;
constexpr int64_t kSmallestStdin = 64 << 10;
constexpr Duration kLongestLease = std::chrono::hours(1);
constexpr Duration kLongestStopGrace = std::chrono::hours(24);

absl::Status check_servers(const std::string& v) { return parse_addresses(v).status(); }
absl::Status check_listen(const std::string& v) { return parse_address(v).status(); }
absl::Status check_listen_or_off(const std::string& v) { return parse_listen(v).status(); }
absl::Status check_listen_or_empty(const std::string& v) { return v.empty() ? absl::OkStatus() : check_listen(v); }
absl::Status check_switch(const std::string& v) { return parse_switch(v).status(); }
absl::Status check_duration(const std::string& v) { return parse_duration(v).status(); }
absl::Status check_stop_grace(const std::string& v) {
  ASSIGN_OR_RETURN(const Duration grace, parse_duration(v));
  if (grace <= kLongestStopGrace) return absl::OkStatus();
  return absl::InvalidArgumentError(cat("'", v, "' is more than ", exact_duration(kLongestStopGrace)));
}
absl::Status check_bytes(const std::string& v) { return parse_bytes(v).status(); }
absl::Status check_stdin_size(const std::string& v) {
  ASSIGN_OR_RETURN(const int64_t bytes, parse_bytes(v));
  if (bytes >= kSmallestStdin) return absl::OkStatus();
  return absl::InvalidArgumentError(cat("'", v, "' is less than 64KiB"));
}
absl::Status check_slots(const std::string& v) { return parse_count(v, 0, kMostSlots).status(); }
absl::Status check_processes(const std::string& v) { return parse_count(v, 0, kMostProcesses).status(); }
absl::Status check_job_count(const std::string& v) { return parse_count(v, 0, INT64_MAX).status(); }
absl::Status check_cores(const std::string& v) { return parse_cores(v).status(); }
absl::Status check_lease(const std::string& v) {
  ASSIGN_OR_RETURN(const Duration lease, parse_duration(v));
  if (lease >= kShortestLease && lease <= kLongestLease) return absl::OkStatus();
  return absl::InvalidArgumentError(
      cat("'", v, "' is not from ", exact_duration(kShortestLease), " to ", exact_duration(kLongestLease)));
}
absl::Status check_between(const std::string& v, Duration least, Duration most) {
  ASSIGN_OR_RETURN(const Duration time, parse_duration(v));
  if (time >= least && time <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(cat("'", v, "' is not from ", exact_duration(least), " to ", exact_duration(most)));
}
absl::Status check_registration(const std::string& v) { return check_between(v, 1s, std::chrono::hours(1)); }
absl::Status check_otp_life(const std::string& v) { return check_between(v, 1s, std::chrono::hours(24)); }
absl::Status check_batch_interval(const std::string& v) { return check_between(v, 1ms, 10s); }
absl::Status check_batch_lines(const std::string& v) { return parse_count(v, 1, kMostBatchLines).status(); }
absl::Status check_endpoint(const std::string& v) {
  if (v.empty() || v.starts_with("http://") || v.starts_with("https://")) return absl::OkStatus();
  return absl::InvalidArgumentError(cat("'", v, "' is not an address like http://localhost:4318"));
}
absl::Status check_label(const std::string& v) { return parse_key_value("label", v).status(); }
absl::Status check_taint(const std::string& v) { return parse_taint(v).status(); }
absl::Status check_id(const std::string& v) { return v.empty() ? absl::OkStatus() : check_name("value", v); }

absl::Status check_choice(const std::string& v, const std::vector<std::string>& choices) {
  std::string all;
  for (const std::string& choice : choices) {
    if (v == choice) return absl::OkStatus();
    all += (all.empty() ? "" : ", ") + choice;
  }
  return absl::InvalidArgumentError(cat("'", v, "' is not one of ", all, did_you_mean(v, choices)));
}
absl::Status check_output(const std::string& v) { return check_choice(v, {"table", "wide", "json", "yaml", "name"}); }
absl::Status check_color(const std::string& v) { return check_choice(v, {"auto", "always", "never"}); }
absl::Status check_isolation(const std::string& v) { return check_choice(v, {"process", "container", "hardware"}); }
absl::Status check_cgroups(const std::string& v) { return check_choice(v, {"on", "v1", "off"}); }
absl::Status check_level(const std::string& v) {
  return check_choice(v, {"trace", "debug", "info", "warn", "error", "off"});
}

absl::Status check_database(const std::string& v) {
  if (v.empty() || v.substr(0, 7) == "sqlite:") return absl::OkStatus();
  if (v.substr(0, 8) == "postgres") {
    return absl::UnimplementedError(
        "PostgreSQL is not supported yet; leave HODEI_DATABASE_URL and DATABASE_URL unset to use SQLite in the data "
        "folder");
  }
  // Without what was given: it may contain a password.
  return absl::InvalidArgumentError("is not supported; leave it empty, or write sqlite:PATH");
}

constexpr Setting kSettings[] = {
    // name, flag, env, env_fallback, default, audience, check, description, list, secret
    {"server", "-s,--server", "HODEI_SERVER", "", "http://localhost:50051", kClient | kAgent, check_servers,
     "address of the server, host:port or http://host:port; several, comma-separated, are tried in order"},
    {"token", "--token", "HODEI_TOKEN", "", "", kClient | kAgent, nullptr,
     "an API token, or for `agent` the one-time token from `otp create`", false, true},
    {"namespace", "-n,--namespace", "HODEI_NAMESPACE", "", "", kClient, check_id,
     "namespace of jobs, templates, secrets, … (default: `default` for new ones, all in lists)"},
    {"output", "-o,--output", "HODEI_OUTPUT", "", "table", kClient, check_output,
     "output format: table, wide, json, yaml or name"},
    {"color", "--color", "HODEI_COLOR", "", "auto", kClient, check_color,
     "when to use color: auto (on a terminal, unless NO_COLOR is set), always or never"},
    {"request_timeout", "--request-timeout", "HODEI_REQUEST_TIMEOUT", "", "30s", kClient, check_duration,
     "how long to wait for the answer to a request"},
    {"retry_for", "--retry-for", "HODEI_RETRY_FOR", "", "3s", kClient, check_duration,
     "how long to retry when no server answers"},
    {"reconnect_for", "--reconnect-for", "HODEI_RECONNECT_FOR", "", "10m", kClient, check_duration,
     "how long `run` and `job logs --follow` try to reconnect to a server"},
    {"data_dir", "-d,--data-dir", "HODEI_DATA_DIR", "", "", kServer | kAgent, nullptr,
     "folder for all durable data (default: ~/.local/share/hodei, or /var/lib/hodei for root)"},
    {"listen", "--listen", "HODEI_LISTEN", "", "127.0.0.1:50051", kServer, check_listen,
     "host:port for gRPC; GRPC_PORT sets only the port"},
    {"http_listen", "--http-listen", "HODEI_HTTP_LISTEN", "", "127.0.0.1:8080", kServer, check_listen_or_off,
     "host:port for HTTP (/metrics, /healthz, /readyz), or off; HTTP_PORT sets only the port"},
    {"database_url", "--database-url", "HODEI_DATABASE_URL", "DATABASE_URL", "", kServer, check_database,
     "the database (default: SQLite in the data folder)", false, true},
    {"log_retention_age", "--log-retention-age", "HODEI_LOG_RETENTION_AGE", "", "14d", kServer, check_duration,
     "how long job output is kept"},
    {"log_retention_size", "--log-retention-size", "HODEI_LOG_RETENTION_SIZE", "", "10GiB", kServer, check_bytes,
     "how much job output is kept in total"},
    {"job_retention_age", "--job-retention-age", "HODEI_JOB_RETENTION_AGE", "", "90d", kServer, check_duration,
     "how long finished jobs are kept; 0: forever"},
    {"job_retention_count", "--job-retention-count", "HODEI_JOB_RETENTION_COUNT", "", "1000000", kServer,
     check_job_count, "how many finished jobs per namespace are kept; 0: no limit"},
    {"audit_retention_age", "--audit-retention-age", "HODEI_AUDIT_RETENTION_AGE", "", "365d", kServer, check_duration,
     "how long audit entries are kept; 0: forever"},
    {"secret_key_file", "--secret-key-file", "HODEI_SECRET_KEY_FILE", "", "", kServer, nullptr,
     "file with the key that encrypts secrets, 32 bytes in hex or base64 (default: `secret.key` in the data folder, "
     "created once)"},
    {"secret_key", "", "HODEI_SECRET_KEY", "", "", kServer, nullptr, "the key itself; overrides secret_key_file", false,
     true},
    {"metrics_retention_age", "--metrics-retention-age", "HODEI_METRICS_RETENTION_AGE", "", "7d", kServer,
     check_duration, "how long metric samples of workers and jobs are kept"},
    {"otlp_endpoint", "--otlp-endpoint", "HODEI_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT", "", kServer,
     check_endpoint, "OpenTelemetry collector for spans of jobs, such as http://localhost:4318 (default: none)"},
    {"queue_memory", "--queue-memory", "HODEI_QUEUE_MEMORY", "", "0", kServer, check_bytes,
     "how much memory unfinished jobs may use before new ones are refused (0: half of the machine's, at most 8 GiB)"},
    {"artifact_retention_age", "--artifact-retention-age", "HODEI_ARTIFACT_RETENTION_AGE", "", "7d", kServer,
     check_duration, "how long artifacts are kept at most"},
    {"artifact_store_size", "--artifact-store-size", "HODEI_ARTIFACT_STORE_SIZE", "", "10GiB", kServer, check_bytes,
     "maximum total size of the artifact store"},
    {"stdin_size", "--stdin-size", "HODEI_STDIN_SIZE", "", "64MiB", kServer, check_stdin_size,
     "how much of a job's standard input is kept; a job with more cannot be retried"},
    {"stdin_store_size", "--stdin-store-size", "HODEI_STDIN_STORE_SIZE", "", "1GiB", kServer, check_bytes,
     "how much standard input of jobs is kept in total"},
    {"stdin_wait", "--stdin-wait", "HODEI_STDIN_WAIT", "", "10m", kServer, check_duration,
     "how long the client may be disconnected before a job's standard input ends"},
    {"lease", "--lease", "HODEI_LEASE", "", "30s", kServer, check_lease,
     "how long a worker runs jobs without hearing from the server; they are requeued half as long later"},
    {"provision_limit", "--provision-limit", "HODEI_PROVISION_LIMIT", "", "5m", kServer, check_duration,
     "how long a job waits for a worker that no provider can create, such as one from an image that does not exist, "
     "before it fails; 0: forever"},
    {"registration_limit", "--registration-limit", "HODEI_REGISTRATION_LIMIT", "", "60s", kServer, check_registration,
     "how long a worker may take to register after it starts, and to connect after it registers"},
    {"otp_life", "--otp-life", "HODEI_OTP_LIFE", "", "5m", kServer, check_otp_life,
     "how long a one-time token is valid; for a worker being created, from the time it runs"},
    {"advertise", "--advertise", "HODEI_ADVERTISE", "", "", kServer, check_listen_or_empty,
     "host:port at which workers created by providers reach this server (default: where it listens)"},
    {"process_enabled", "", "HODEI_PROCESS_ENABLED", "", "", kServer, check_switch,
     "1: enable the provider `process`, which starts workers on this machine (default: only in `hodei dev`)"},
    {"docker_enabled", "", "HODEI_DOCKER_ENABLED", "", "", kServer, check_switch,
     "1: enable the provider `docker` (default: in `hodei dev` if its socket exists)"},
    {"k8s_enabled", "", "HODEI_K8S_ENABLED", "", "", kServer, check_switch, "1: enable the provider `kubernetes`"},
    {"fc_enabled", "", "HODEI_FC_ENABLED", "", "", kServer, check_switch,
     "1: enable the provider `firecracker` (default: in `hodei dev` if an engine and a kernel exist)"},
    {"log_level", "--log-level", "HODEI_LOG_LEVEL", "", "info", kServer | kAgent, check_level,
     "level of the program's own log: trace, debug, info, warn, error or off"},
    {"slots", "--slots", "HODEI_SLOTS", "", "0", kAgent, check_slots,
     "executions at once on this worker; 0: four per CPU core, at least four"},
    {"job_processes", "--job-processes", "HODEI_JOB_PROCESSES", "", "4096", kAgent, check_processes,
     "maximum number of processes and threads per execution, where cgroups can limit them; 0: no limit"},
    {"cgroups", "--cgroups", "HODEI_CGROUPS", "", "on", kAgent, check_cgroups,
     "cgroups for jobs: on (the best this machine has), v1 (only version 1), off"},
    {"job_log_size", "--job-log-size", "HODEI_JOB_LOG_SIZE", "", "0", kAgent, check_bytes,
     "maximum output per execution; the rest is counted and dropped; 0: no limit"},
    {"log_batch_lines", "--log-batch-lines", "HODEI_LOG_BATCH_LINES", "", "100", kAgent, check_batch_lines,
     "lines of output sent to the server at once; fewer are sent after log_batch_interval"},
    {"log_batch_interval", "--log-batch-interval", "HODEI_LOG_BATCH_INTERVAL", "", "100ms", kAgent,
     check_batch_interval, "how long output is collected before it is sent to the server"},
    {"stop_grace", "--stop-grace", "HODEI_STOP_GRACE", "", "30s", kAgent, check_stop_grace,
     "how long running jobs may continue when this worker is stopped, before they are requeued; 0: not at all"},
    {"leave_after", "--leave-after", "HODEI_LEAVE_AFTER", "", "0", kAgent, check_duration,
     "exit when idle and without an answer from a server for this long, or when the state folder is gone; 0: never, "
     "but 1h for the worker of `dev`"},
    {"labels", "--label", "HODEI_LABELS", "", "", kAgent, check_label, "labels of this worker, key=value", true},
    {"taints", "--taint", "HODEI_TAINTS", "", "", kAgent, check_taint,
     "taints of this worker, key[=value]:effect; the effect is NoSchedule, PreferNoSchedule or NoExecute", true},
    {"pool", "--pool", "HODEI_POOL", "", "", kAgent, check_id, "pool of this worker"},
    {"worker_provider", "", "HODEI_WORKER_PROVIDER", "", "", kAgent, check_id,
     "provider of this worker; set by the provider (empty: started by hand)"},
    {"worker_isolation", "", "HODEI_WORKER_ISOLATION", "", "process", kAgent, check_isolation,
     "isolation of this worker: process, container or hardware; set by the provider"},
    {"worker_image", "", "HODEI_WORKER_IMAGE_NAME", "", "", kAgent, nullptr,
     "image of this worker; set by the provider"},
    {"worker_cpu", "", "HODEI_WORKER_CPU", "", "0", kAgent, check_cores,
     "CPU cores for jobs on this worker; 0: all of the machine"},
    {"worker_memory", "", "HODEI_WORKER_MEMORY", "", "0", kAgent, check_bytes,
     "memory for jobs on this worker; 0: all of the machine"},
    {"worker_gpus", "", "HODEI_WORKER_GPUS", "", "0", kAgent, check_slots, "GPUs for jobs on this worker"},
    {"worker_id", "--worker-id", "HODEI_WORKER_ID", "", "", kAgent, check_id,
     "id of this worker (default: derived from the host name once and kept)"},
    {"worker_name", "--name", "HODEI_WORKER_NAME", "", "", kAgent, nullptr,
     "display name of this worker (default: the host name)"},
    {"metrics_listen", "--metrics-listen", "HODEI_METRICS_LISTEN", "", "off", kAgent, check_listen_or_off,
     "host:port for this worker's /metrics, or off"},
    {"state_dir", "--state-dir", "HODEI_STATE_DIR", "", "", kAgent, nullptr,
     "folder for the worker's session and working folders (default: `worker` in the data folder)"},
};

absl::Status check_values(const Setting& setting, const SettingValue& value) {
  if (!setting.check) return absl::OkStatus();
  for (const std::string& one : value.values) {
    if (absl::Status bad = setting.check(one); !bad.ok()) {
      return absl::Status(bad.code(), cat(setting.name, " (", value.origin, "): ", std::string(bad.message())));
    }
  }
  return absl::OkStatus();
}

std::optional<SettingValue> from_env(const Setting& setting, const Surroundings& surroundings) {
  for (std::string_view name : {setting.env, setting.env_fallback}) {
    if (name.empty()) continue;
    const std::optional<std::string> found = surroundings.env(std::string(name));
    // An empty variable is an unset one, as is usual.
    if (!found || found->empty()) continue;
    const std::string origin = cat("environment ", name);
    return setting.is_list ? SettingValue{split_list(*found), origin} : SettingValue{{*found}, origin};
  }
  return std::nullopt;
}

// GRPC_PORT and HTTP_PORT are ports without a host: they replace the port of `listen` and `http_listen`, and GRPC_PORT
// that of the server found by default. Asked only where neither a flag nor the setting's own variable was given.
absl::Status apply_port(const Surroundings& surroundings, const Setting& setting, SettingValue& value) {
  const std::string variable = setting.name == "http_listen" ? "HTTP_PORT" : "GRPC_PORT";
  const std::string text = surroundings.env_or(variable, "");
  if (text.empty()) return absl::OkStatus();
  const absl::StatusOr<int64_t> port = parse_count(text, 0, 65535);
  if (!port.ok()) return bad_field(variable, std::string(port.status().message()));
  if (setting.name == "server" && value.origin != "default") return absl::OkStatus();
  if (value.values[0] == "off") value.values[0] = std::string(setting.default_value);
  ASSIGN_OR_RETURN(Address address, parse_address(value.values[0]));
  address.port = static_cast<int>(*port);
  value = {{cat(setting.name == "server" ? "http://" : "", to_string(address))}, cat("environment ", variable)};
  return absl::OkStatus();
}

}  // namespace

std::span<const Setting> all_settings() { return kSettings; }

const Setting* find_setting(std::string_view name) {
  for (const Setting& setting : kSettings) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

Settings Settings::resolve(const std::map<std::string, std::vector<std::string>>& flags,
                           const Surroundings& surroundings, const ConfigFile& file,
                           std::vector<std::string>& problems) {
  Settings out;
  out.config_path_ = file.path;
  for (const Setting& setting : kSettings) {
    SettingValue value{{std::string(setting.default_value)}, "default"};
    absl::Status status;
    if (setting.is_list) value.values.clear();
    if (const auto given = flags.find(std::string(setting.name)); given != flags.end() && !given->second.empty()) {
      value = {given->second, cat("flag ", setting.flag.substr(setting.flag.find("--")))};
    } else if (const std::optional<SettingValue> found = from_env(setting, surroundings)) {
      value = *found;
    } else {
      if (const auto kept = file.values.find(setting.name); kept != file.values.end()) value = kept->second;
      const bool has_port = setting.name == "server" || setting.name == "listen" || setting.name == "http_listen";
      if (has_port) status = apply_port(surroundings, setting, value);
    }
    if (status.ok()) status = check_values(setting, value);
    if (!status.ok()) problems.emplace_back(status.message());
    out.values_.emplace(setting.name, std::move(value));
  }
  return out;
}

absl::StatusOr<Settings> Settings::resolve(const std::map<std::string, std::vector<std::string>>& flags,
                                           const Surroundings& surroundings, const ConfigFile& file) {
  std::vector<std::string> problems;
  Settings out = resolve(flags, surroundings, file, problems);
  RETURN_IF_ERROR(joined_problems(problems));
  return out;
}

const SettingValue& Settings::get(std::string_view name) const {
  const auto found = values_.find(name);
  HODEI_CHECK(found != values_.end());
  return found->second;
}

std::string Settings::text(std::string_view name) const {
  const SettingValue& value = get(name);
  return value.values.empty() ? std::string() : value.values[0];
}

Duration Settings::duration(std::string_view name) const { return parse_duration(text(name)).value(); }
int64_t Settings::count(std::string_view name) const { return parse_count(text(name), INT64_MIN, INT64_MAX).value(); }
std::optional<bool> Settings::on_or_off(std::string_view name) const { return parse_switch(text(name)).value(); }
int64_t Settings::bytes(std::string_view name) const { return parse_bytes(text(name)).value(); }

}  // namespace hodei::cli

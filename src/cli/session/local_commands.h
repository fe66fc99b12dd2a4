// The commands that src/cli parses but does not carry out: they need the code of the server or the worker, which
// src/main provides.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/time.h"
#include "src/cli/text/address.h"

namespace hodei::cli {

class Settings;
struct Surroundings;

struct ServerOptions {
  std::string data_dir;
  Address listen;
  std::string database_url;  // empty or sqlite:
  Duration log_retention_age{};
  int64_t log_retention_bytes = 0;
  Duration audit_retention_age{};   // 0: for ever
  Duration job_retention_age{};     // 0: for ever
  int64_t job_retention_count = 0;  // 0: any number
  std::string secret_key;
  std::string secret_key_file;
  Duration artifact_retention_age{};
  int64_t artifact_store_bytes = 0;
  int64_t stdin_bytes = 0;
  int64_t stdin_store_bytes = 0;
  Duration stdin_wait{};
  int64_t queue_memory = 0;  // 0: as the machine has it
  Duration lease{};
  Duration provision_limit{};
  Duration registration_limit{};
  Duration otp_life{};
  std::string log_level;               // trace … off
  std::optional<Address> http_listen;  // nothing: off
  bool http_was_chosen = false;        // not the default: it must work
  Duration metrics_retention_age{};
  std::string otlp_endpoint;  // empty: none
  std::string advertise;      // where made workers find the server; empty: where it listens
  // Providers that are there without having been added; nothing: where they can work, in `dev`.
  std::optional<bool> process_enabled, docker_enabled, k8s_enabled, fc_enabled;
};

struct WorkerTaint {
  std::string key;
  std::string value;
  std::string effect;  // NoSchedule, PreferNoSchedule, NoExecute

  bool operator==(const WorkerTaint&) const = default;
};

struct AgentOptions {
  std::vector<Address> servers;
  std::string token;          // the one-time token; empty when a session is kept in state_dir
  std::string worker_id;      // empty: made once and kept in state_dir
  std::string name;           // empty: the host name
  int slots = 0;              // 0: four per core
  int64_t job_processes = 0;  // of one execution; 0: no limit
  std::string cgroups;        // on, v1, off
  int64_t job_log_bytes = 0;  // likewise
  int64_t log_batch_lines = 100;
  Duration log_batch_interval = 100ms;
  Duration stop_grace{};   // for what runs when the worker is stopped
  Duration leave_after{};  // without a server and without jobs; 0: never
  std::map<std::string, std::string> labels;
  std::vector<WorkerTaint> taints;
  std::string pool;
  std::string state_dir;
  std::string log_level;
  std::string metrics_listen;  // host:port, or off
  // Given by the provider that made it.
  std::string provider;
  std::string isolation;
  std::string image;
  int64_t cpu_milli = 0;     // 0: the machine's
  int64_t memory_bytes = 0;  // likewise
  int64_t gpus = 0;
};

struct DevOptions {
  ServerOptions server;
  AgentOptions agent;  // it connects to the server in the same process
};

struct LocalCommands {
  std::string version;
  std::function<int(const DevOptions&)> dev;
  std::function<int(const ServerOptions&)> server;
  std::function<int(const AgentOptions&)> agent;
  std::function<int(const std::vector<std::string>&)> report;  // {"progress", "40", "half"}, {"output", "key=value"}
};

absl::StatusOr<ServerOptions> server_options(const Settings& settings, const Surroundings& surroundings);
absl::StatusOr<AgentOptions> agent_options(const Settings& settings, const Surroundings& surroundings);
absl::StatusOr<DevOptions> dev_options(const Settings& settings, const Surroundings& surroundings);

// "key", "key=value", "key=value:NoExecute"; without an effect it is NoSchedule.
absl::StatusOr<WorkerTaint> parse_taint(std::string_view text);

}  // namespace hodei::cli

#include "src/providers/docker/container_body.h"

#include "src/base/status.h"
#include "src/providers/docker/json_fields.h"
#include "src/providers/docker/worker_tar.h"
#include "src/providers/installation_mark.h"
#include "src/providers/worker_environment.h"

namespace hodei::providers::docker {
namespace {

constexpr int kStopSeconds = 10;               // `docker stop` and the end of the engine leave this time to the worker
constexpr int64_t kNanosPerMilli = 1'000'000;  // a CPU is 10^9 of the engine's units

Json host_config(const DockerOptions& options, const WorkerSpec& spec, const std::string& network) {
  Json host = {
      {"RestartPolicy", {{"Name", "no"}}},
      {"AutoRemove", false},  // its last output and its exit code are wanted
      {"Init", false},        // the worker is a good first process
      {"LogConfig", {{"Type", "json-file"}, {"Config", {{"max-size", "10m"}, {"max-file", "2"}}}}},
  };
  if (!network.empty()) host["NetworkMode"] = network;
  if (!options.runtime.empty()) host["Runtime"] = options.runtime;
  if (!options.volumes.empty()) host["Binds"] = options.volumes;
  if (!options.extra_hosts.empty()) host["ExtraHosts"] = options.extra_hosts;
  if (options.pids > 0) host["PidsLimit"] = options.pids;
  if (spec.cpu_milli > 0) host["NanoCpus"] = spec.cpu_milli * kNanosPerMilli;
  if (spec.memory_mb > 0) {
    host["Memory"] = spec.memory_mb << 20;
    host["MemorySwap"] = spec.memory_mb << 20;  // the sum of both: no swap
  }
  if (spec.gpus > 0) {
    host["DeviceRequests"] = Json::array({{{"Driver", ""}, {"Count", spec.gpus}, {"Capabilities", {{"gpu"}}}}});
  }
  return host;
}

}  // namespace

StringMap owner_labels(const Installation& installation, const ProviderConfig& config) {
  return {{kInstallationLabel, installation.id}, {kProviderLabel, config.name}};
}

std::string container_name(const Installation& installation, const std::string& worker_id) {
  return cat("hodei-", installation_mark(installation.id), "-", worker_id);
}

std::string former_container_name(const std::string& worker_id) { return cat("hodei-", worker_id); }

absl::StatusOr<std::string> network_for(const DockerOptions& options, const WorkerSpec& spec) {
  if (!options.network.empty()) return options.network;
  if (!is_loopback(spec.server_address)) return std::string();
  if (options.engine.on_this_machine) return "host";
  return absl::FailedPreconditionError(cat("the server listens on ", spec.server_address,
                                           ", where containers of the engine at ", options.engine.text,
                                           " cannot reach it; make it listen on and advertise an address "
                                           "of the network"));
}

std::string container_body(const DockerOptions& options, const StringMap& labels, const StringMap& environment,
                           const WorkerSpec& spec, const std::string& network) {
  Json all_labels = Json::object();
  for (const auto& [key, value] : options.labels) all_labels[key] = value;
  for (const auto& [key, value] : spec.labels) all_labels[cat("hodei.label.", key)] = value;
  for (const auto& [key, value] : labels) all_labels[key] = value;
  all_labels[kWorkerLabel] = spec.worker_id;
  Json words = Json::array();
  for (const auto& [key, value] : environment) words.push_back(cat(key, "=", value));
  const Json body = {
      {"Image", spec.image.empty() ? options.image : spec.image},
      {"Entrypoint", {kWorkerPath}},
      {"Cmd", Json::array()},
      {"Env", words},
      {"Labels", all_labels},
      {"User", options.user.empty() ? "0" : options.user},
      {"Healthcheck", {{"Test", {"NONE"}}}},  // the image's own would look for the image's own program
      {"StopSignal", "SIGTERM"},
      {"StopTimeout", kStopSeconds},
      {"HostConfig", host_config(options, spec, network)},
  };
  return dump(body);
}

}  // namespace hodei::providers::docker

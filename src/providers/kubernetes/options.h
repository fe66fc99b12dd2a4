// The options of the kubernetes provider, read from its configuration and the environment, checked and typed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/providers/provider.h"

namespace hodei::providers::kubernetes {

struct Toleration {
  std::string key;
  std::string value;   // empty: any value (Exists)
  std::string effect;  // empty: any effect

  bool operator==(const Toleration&) const = default;
};

struct KubernetesOptions {
  std::string kubeconfig;              // path, or several separated by ':'; empty: in-cluster
  std::string context;                 // empty: the file's current one
  std::string service_account_folder;  // in-cluster: token and ca.crt
  std::string namespace_name;
  std::string worker_image;  // holds the static worker, which copies itself into the pod
  std::string image;         // for jobs that name none
  std::string pull_policy;   // Always, IfNotPresent, Never
  StringMap node_selector;
  std::vector<Toleration> tolerations;
  std::string service_account;
  std::vector<std::string> image_pull_secrets;
  std::string priority_class;
  std::string runtime_class;
  std::string gpu_resource;
  bool gpu = false;
  int64_t run_as_user = 0;
  int64_t grace_seconds = 0;  // between SIGTERM and SIGKILL
  int64_t leave_seconds = 0;  // an idle worker without a connection to a server ends after so long; 0: never
  int64_t max_cpu_milli = 0;  // 0: no limit that we know of
  int64_t max_memory_mb = 0;
  uint32_t max_workers = 0;
};

// The environment as a lookup, so that tests need not change their own.
using Environment = std::optional<std::string> (*)(const char* name);
std::optional<std::string> process_environment(const char* name);

// Every option is known and valid; what is not set comes from the environment, then from defaults.
absl::StatusOr<KubernetesOptions> read_options(const StringMap& options, Environment environment = process_environment);

}  // namespace hodei::providers::kubernetes

// Where the cluster is and who we are there, as a kubeconfig or a pod's own service account says.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/providers/kubernetes/options.h"
#include "src/providers/kubernetes/small_files.h"

namespace hodei::providers::kubernetes {

struct Cluster {
  std::string server;  // https://host:port, without a slash at the end
  std::string ca_pem;  // empty: the system's
  std::string tls_server_name;
};

// A program that gives credentials (client.authentication.k8s.io).
struct ExecPlugin {
  std::string command;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string api_version;
  std::string install_hint;
  bool provide_cluster_info = false;

  bool operator==(const ExecPlugin&) const = default;
};

struct User {
  std::string token;
  std::string token_file;  // wins over `token`; read anew for every call
  std::string certificate_pem;
  std::string key_pem;
  std::optional<ExecPlugin> exec;
};

struct ClusterAccess {
  Cluster cluster;
  User user;
  std::vector<FileStamp> files;  // what this was read from
};

// `paths` as in $KUBECONFIG: several are merged, the first that names a thing counts. `context` empty: the current one.
absl::StatusOr<ClusterAccess> read_kubeconfig(const std::string& paths, const std::string& context);

// The service account that Kubernetes puts into every pod that wants one.
absl::StatusOr<ClusterAccess> read_in_cluster(const std::string& folder, Environment environment = process_environment);

}  // namespace hodei::providers::kubernetes

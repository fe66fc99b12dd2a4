// The current credentials for the API server. Files are read again when they change, and plugins run again when their
// credential expires.
#pragma once

#include <mutex>

#include "src/base/http/client.h"
#include "src/providers/kubernetes/exec_plugin.h"

namespace hodei::providers::kubernetes {

struct Login {
  std::string server;
  std::string authorization;  // the header's value; empty: the certificate says it all
  http::Tls tls;
};

class Access {
 public:
  explicit Access(const KubernetesOptions& options);

  // May read files and run a plugin, one at a time. FAILED_PRECONDITION says what is wrong with the configuration.
  absl::StatusOr<Login> login();

  // The server did not take it (401): what is remembered is not used again. True: trying again may help.
  bool forget(const Login& refused);

 private:
  absl::Status refresh();  // access_ is what the files say now
  absl::StatusOr<Login> make_login();
  absl::Status use_plugin(Login& login);

  const std::string kubeconfig_;
  const std::string context_;
  const std::string service_account_folder_;
  SystemClock clock_;

  std::mutex mutex_;
  std::optional<ClusterAccess> access_;
  std::optional<PluginCredential> credential_;
  ExecPlugin credential_of_;
};

}  // namespace hodei::providers::kubernetes

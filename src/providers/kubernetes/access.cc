#include "src/providers/kubernetes/access.h"

#include "src/base/status.h"

namespace hodei::providers::kubernetes {
namespace {

// A credential is not used in its last moments: a call and a watch take some time.
constexpr Duration kBeforeExpiry = 30s;

}  // namespace

Access::Access(const KubernetesOptions& options)
    : kubeconfig_(options.kubeconfig),
      context_(options.context),
      service_account_folder_(options.service_account_folder) {}

absl::StatusOr<Login> Access::login() {
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(refresh());
  return make_login();
}

absl::Status Access::refresh() {
  if (access_ && unchanged(access_->files)) return absl::OkStatus();
  access_.reset();
  ASSIGN_OR_RETURN(
      access_, kubeconfig_.empty() ? read_in_cluster(service_account_folder_) : read_kubeconfig(kubeconfig_, context_));
  return absl::OkStatus();
}

absl::StatusOr<Login> Access::make_login() {
  const User& user = access_->user;
  Login login;
  login.server = access_->cluster.server;
  login.tls.ca_pem = access_->cluster.ca_pem;
  login.tls.server_name = access_->cluster.tls_server_name;
  login.tls.certificate_pem = user.certificate_pem;
  login.tls.key_pem = user.key_pem;
  std::string token = user.token;
  if (!user.token_file.empty()) {
    ASSIGN_OR_RETURN(std::string text, read_small_file(user.token_file, "the token's file"));
    ASSIGN_OR_RETURN(token, as_token(std::move(text), user.token_file));
  }
  if (!token.empty()) login.authorization = cat("Bearer ", token);
  // As kubectl does: what stands in the file wins over the plugin.
  if (user.exec && token.empty() && user.certificate_pem.empty()) RETURN_IF_ERROR(use_plugin(login));
  return login;
}

absl::Status Access::use_plugin(Login& login) {
  const ExecPlugin& plugin = *access_->user.exec;
  const bool expired =
      credential_ && credential_->expires.is_set() && clock_.now().wall >= credential_->expires - kBeforeExpiry;
  if (!credential_ || expired || !(credential_of_ == plugin)) {
    credential_.reset();
    ASSIGN_OR_RETURN(credential_, run_plugin(plugin, access_->cluster));
    credential_of_ = plugin;
  }
  if (!credential_->token.empty()) login.authorization = cat("Bearer ", credential_->token);
  login.tls.certificate_pem = credential_->certificate_pem;
  login.tls.key_pem = credential_->key_pem;
  return absl::OkStatus();
}

bool Access::forget(const Login& refused) {
  const std::lock_guard lock(mutex_);
  access_.reset();
  if (!credential_) return false;
  // Another thread may have fetched a new one meanwhile.
  const std::string header = credential_->token.empty() ? "" : cat("Bearer ", credential_->token);
  const bool same = refused.authorization == header && refused.tls.certificate_pem == credential_->certificate_pem;
  if (same) credential_.reset();
  return true;
}

}  // namespace hodei::providers::kubernetes

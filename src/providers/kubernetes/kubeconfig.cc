#include "src/providers/kubernetes/kubeconfig.h"

#include <exception>
#include <map>

#include "src/base/http/url.h"
#include "src/base/status.h"
#include "yaml-cpp/yaml.h"

namespace hodei::providers::kubernetes {
namespace {

constexpr int kDeepest = 64;  // yaml-cpp builds its nodes by recursion
constexpr size_t kMostEntries = 1000;

absl::Status wrong(std::string_view where, std::string_view what) {
  return absl::FailedPreconditionError(cat("kubeconfig: ", where, ": ", what));
}

std::string text_of(const YAML::Node& node, const char* key) {
  if (!node.IsMap() || !node[key] || !node[key].IsScalar()) return {};
  return node[key].Scalar();
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash == 0 ? 1 : slash);
}

std::string beside(const std::string& file, const std::string& path) {
  return path.starts_with('/') ? path : cat(folder_of(file), "/", path);
}

// Flow collections ([ and {) nest without a line each: counted before the parser sees them.
bool too_deep(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (depth > kDeepest) return true;
  }
  size_t indent = 0;
  bool at_start = true;
  for (const char c : text) {
    if (c == '\n') {
      at_start = true;
      indent = 0;
    } else if (at_start && (c == ' ' || c == '-' || c == '?')) {
      if (++indent > 16 * kDeepest) return true;
    } else {
      at_start = false;
    }
  }
  return false;
}

// One entry of clusters, users or contexts, and the file that relative paths in it start from.
struct Entry {
  YAML::Node node;
  std::string file;
};
using Entries = std::map<std::string, Entry>;

struct Merged {
  Entries clusters, users, contexts;
  std::string current;
  std::vector<FileStamp> files;
};

absl::Status take(const YAML::Node& root, const char* list, const char* inner, const std::string& file, Entries& into) {
  const YAML::Node entries = root[list];
  if (!entries || entries.IsNull()) return absl::OkStatus();
  if (!entries.IsSequence()) return wrong(file, cat(list, " is not a list"));
  if (entries.size() > kMostEntries) return wrong(file, cat(list, " has more than ", kMostEntries, " entries"));
  for (const YAML::Node& entry : entries) {
    const std::string name = text_of(entry, "name");
    if (name.empty() || !entry[inner] || !entry[inner].IsMap()) {
      return wrong(file, cat("an entry of ", list, " has no name or no ", inner));
    }
    into.try_emplace(name, Entry{entry[inner], file});
  }
  return absl::OkStatus();
}

absl::Status add_file(const std::string& path, Merged& merged) {
  ASSIGN_OR_RETURN(const std::string text, read_small_file(path, "kubeconfig"));
  if (too_deep(text)) return wrong(path, cat("nested deeper than ", kDeepest, " levels"));
  const YAML::Node root = YAML::Load(text);
  if (!root.IsMap()) return wrong(path, "is not a kubeconfig: it is not a mapping");
  if (merged.current.empty()) merged.current = text_of(root, "current-context");
  RETURN_IF_ERROR(take(root, "clusters", "cluster", path, merged.clusters));
  RETURN_IF_ERROR(take(root, "users", "user", path, merged.users));
  return take(root, "contexts", "context", path, merged.contexts);
}

absl::StatusOr<Merged> merge(const std::string& paths) {
  Merged merged;
  size_t found = 0;
  for (size_t at = 0; at < paths.size();) {
    const size_t end = std::min(paths.find(':', at), paths.size());
    const std::string path = paths.substr(at, end - at);
    at = end + 1;
    if (path.empty()) continue;
    merged.files.push_back(stamp_of(path));
    if (merged.files.back().size < 0) continue;  // as kubectl does: of several, some may be missing
    ++found;
    RETURN_IF_ERROR(add_file(path, merged));
  }
  if (found == 0) return absl::FailedPreconditionError(cat("kubeconfig: no such file: ", paths));
  return merged;
}

absl::StatusOr<const Entry*> find(const Entries& entries, const std::string& name, std::string_view kind) {
  const auto it = entries.find(name);
  if (it != entries.end()) return &it->second;
  std::string all;
  for (const auto& [known, entry] : entries) all += cat(all.empty() ? "" : ", ", known);
  return absl::FailedPreconditionError(
      cat("kubeconfig: there is no ", kind, " '", name, "'; it has ", all.empty() ? "none" : all));
}

// Something that stands in the file itself (KEY-data, base64) or in a file of its own (KEY).
absl::StatusOr<std::string> inline_or_file(const Entry& entry, const std::string& key, std::vector<FileStamp>& files) {
  const std::string data = text_of(entry.node, cat(key, "-data").c_str());
  if (data.size() > kLargestFile) return wrong(entry.file, cat(key, "-data is too large"));
  if (!data.empty()) return base64_decoded(data, cat("kubeconfig: ", key, "-data"));
  const std::string path = text_of(entry.node, key.c_str());
  if (path.empty()) return std::string();
  const std::string full = beside(entry.file, path);
  files.push_back(stamp_of(full));
  return read_small_file(full, cat("kubeconfig: ", key));
}

absl::StatusOr<Cluster> read_cluster(const Entry& entry, std::vector<FileStamp>& files) {
  Cluster out;
  out.server = text_of(entry.node, "server");
  while (out.server.ends_with('/')) out.server.pop_back();
  if (const auto url = http::parse_url(out.server); !url.ok())
    return wrong("cluster.server", std::string(url.status().message()));
  if (const std::string skip = text_of(entry.node, "insecure-skip-tls-verify"); skip == "true") {
    return wrong(
        "insecure-skip-tls-verify",
        "is not allowed: anyone on the network path could steal the credentials; set certificate-authority instead");
  }
  if (!text_of(entry.node, "proxy-url").empty()) return wrong("proxy-url", "proxies are not supported");
  ASSIGN_OR_RETURN(out.ca_pem, inline_or_file(entry, "certificate-authority", files));
  out.tls_server_name = text_of(entry.node, "tls-server-name");
  return out;
}

absl::StatusOr<ExecPlugin> read_exec(const YAML::Node& node, const std::string& file) {
  ExecPlugin out;
  out.command = text_of(node, "command");
  out.api_version = text_of(node, "apiVersion");
  out.install_hint = text_of(node, "installHint");
  out.provide_cluster_info = text_of(node, "provideClusterInfo") == "true";
  if (out.command.empty()) return wrong("user.exec", "has no command");
  if (out.command.find('/') != std::string::npos) out.command = beside(file, out.command);
  if (out.api_version != "client.authentication.k8s.io/v1" &&
      out.api_version != "client.authentication.k8s.io/v1beta1") {
    return wrong("user.exec.apiVersion",
                 cat("'", out.api_version, "' is not client.authentication.k8s.io/v1 or v1beta1"));
  }
  if (text_of(node, "interactiveMode") == "Always") {
    return wrong("user.exec.interactiveMode", "Always requires a terminal, and a server has none");
  }
  if (const YAML::Node arguments = node["args"]; arguments && arguments.IsSequence()) {
    for (const YAML::Node& word : arguments) out.arguments.push_back(word.as<std::string>());
  }
  if (const YAML::Node words = node["env"]; words && words.IsSequence()) {
    for (const YAML::Node& word : words) out.environment.emplace_back(text_of(word, "name"), text_of(word, "value"));
  }
  return out;
}

absl::StatusOr<User> read_user(const Entry& entry, std::vector<FileStamp>& files) {
  for (const char* unsupported : {"username", "password", "auth-provider", "as", "as-uid", "as-groups"}) {
    if (!entry.node[unsupported]) continue;
    return wrong(cat("user.", unsupported), "is not supported; use a token, a client certificate or an exec plugin");
  }
  User out;
  if (const std::string token = text_of(entry.node, "token"); !token.empty()) {
    ASSIGN_OR_RETURN(out.token, as_token(token, "kubeconfig: user.token"));
  }
  if (const std::string path = text_of(entry.node, "tokenFile"); !path.empty())
    out.token_file = beside(entry.file, path);
  ASSIGN_OR_RETURN(out.certificate_pem, inline_or_file(entry, "client-certificate", files));
  ASSIGN_OR_RETURN(out.key_pem, inline_or_file(entry, "client-key", files));
  if (out.certificate_pem.empty() != out.key_pem.empty()) {
    return wrong("user", "client-certificate and client-key must be set together");
  }
  if (const YAML::Node exec = entry.node["exec"]; exec && exec.IsMap()) {
    ASSIGN_OR_RETURN(out.exec, read_exec(exec, entry.file));
  }
  return out;
}

// A token must not cross a network that anyone can listen to.
absl::Status check_transport(const ClusterAccess& access) {
  ASSIGN_OR_RETURN(const http::Url url, http::parse_url(access.cluster.server));
  const bool loopback = url.host == "localhost" || url.host == "::1" || url.host.starts_with("127.");
  const User& user = access.user;
  const bool has_credentials = !user.token.empty() || !user.token_file.empty() || user.exec.has_value();
  if (url.secure || loopback || !has_credentials) return absl::OkStatus();
  return wrong("cluster.server",
               cat(access.cluster.server, " is not https: the credentials would be sent in clear text"));
}

absl::StatusOr<ClusterAccess> resolve(const std::string& paths, const std::string& context) {
  ASSIGN_OR_RETURN(Merged merged, merge(paths));
  const std::string& name = context.empty() ? merged.current : context;
  if (name.empty()) return wrong("current-context", "is not set; choose one with the option context");
  ASSIGN_OR_RETURN(const Entry* const chosen, find(merged.contexts, name, "context"));
  ASSIGN_OR_RETURN(const Entry* const cluster, find(merged.clusters, text_of(chosen->node, "cluster"), "cluster"));
  ClusterAccess out;
  out.files = std::move(merged.files);
  ASSIGN_OR_RETURN(out.cluster, read_cluster(*cluster, out.files));
  if (const std::string user = text_of(chosen->node, "user"); !user.empty()) {
    ASSIGN_OR_RETURN(const Entry* const entry, find(merged.users, user, "user"));
    ASSIGN_OR_RETURN(out.user, read_user(*entry, out.files));
  }
  RETURN_IF_ERROR(check_transport(out));
  return out;
}

}  // namespace

absl::StatusOr<ClusterAccess> read_kubeconfig(const std::string& paths, const std::string& context) {
  try {
    return resolve(paths, context);
  } catch (const std::exception& bad) {  // of yaml-cpp; it names the line
    return wrong(paths, bad.what());
  }
}

absl::StatusOr<ClusterAccess> read_in_cluster(const std::string& folder, Environment environment) {
  const std::optional<std::string> host = environment("KUBERNETES_SERVICE_HOST");
  const std::optional<std::string> port = environment("KUBERNETES_SERVICE_PORT");
  if (!host || !port) {
    return absl::FailedPreconditionError(
        "kubeconfig: not set, and the server is not running in a pod (no KUBERNETES_SERVICE_HOST); set the option "
        "kubeconfig, "
        "HODEI_K8S_KUBECONFIG or KUBECONFIG");
  }
  ClusterAccess out;
  const bool v6 = host->find(':') != std::string::npos;
  out.cluster.server = cat("https://", v6 ? "[" : "", *host, v6 ? "]" : "", ":", *port);
  RETURN_IF_ERROR(http::parse_url(out.cluster.server).status());
  const std::string ca = cat(folder, "/ca.crt");
  out.files.push_back(stamp_of(ca));
  ASSIGN_OR_RETURN(out.cluster.ca_pem, read_small_file(ca, "the service account's CA"));
  out.user.token_file = cat(folder, "/token");
  return out;
}

}  // namespace hodei::providers::kubernetes

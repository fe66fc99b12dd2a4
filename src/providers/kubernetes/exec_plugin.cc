#include "src/providers/kubernetes/exec_plugin.h"

#include <cstdio>
#include <ctime>

#include "src/base/clip.h"
#include "src/base/status.h"
#include "src/providers/kubernetes/child_program.h"
#include "src/providers/kubernetes/json_fields.h"

namespace hodei::providers::kubernetes {
namespace {

using nlohmann::json;

constexpr Duration kPluginTime = 20s;
constexpr size_t kMostOutput = 1 << 20;
constexpr size_t kShownOfAFailure = 500;

std::string base64_encoded(std::string_view in) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t at = 0; at < in.size(); at += 3) {
    const size_t have = std::min<size_t>(3, in.size() - at);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = (bits << 8) | (k < have ? static_cast<unsigned char>(in[at + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) out.push_back(k <= have ? kDigits[(bits >> (18 - 6 * k)) & 63] : '=');
  }
  return out;
}

std::string exec_info(const ExecPlugin& plugin, const Cluster& cluster) {
  json spec = {{"interactive", false}};
  if (plugin.provide_cluster_info) {
    spec["cluster"] = {{"server", cluster.server}};
    if (!cluster.ca_pem.empty()) spec["cluster"]["certificate-authority-data"] = base64_encoded(cluster.ca_pem);
    if (!cluster.tls_server_name.empty()) spec["cluster"]["tls-server-name"] = cluster.tls_server_name;
  }
  const json info = {{"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", spec}};
  return info.dump(-1, ' ', false, json::error_handler_t::replace);
}

absl::Status wrong(const ExecPlugin& plugin, std::string_view what) {
  return absl::FailedPreconditionError(cat("kubeconfig: the exec plugin ", plugin.command, " ", what));
}

}  // namespace

WallTime parse_rfc3339(const std::string& written) {
  std::tm parts{};
  int used = 0;
  if (std::sscanf(written.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
                  &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &used) != 6) {
    return {};
  }
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  int64_t seconds = timegm(&parts);
  const size_t zone = written.find_first_of("+-", static_cast<size_t>(used));
  int hours = 0, minutes = 0;
  if (zone != std::string::npos && std::sscanf(written.c_str() + zone + 1, "%2d:%2d", &hours, &minutes) == 2) {
    seconds += (written[zone] == '+' ? -1 : 1) * (hours * 3600 + minutes * 60);
  }
  return {seconds * 1'000'000};
}

absl::StatusOr<PluginCredential> parse_credential(const std::string& printed, const ExecPlugin& plugin) {
  const json answer = json::parse(printed, nullptr, false);
  if (!answer.is_object()) return wrong(plugin, "printed no JSON object");
  if (text(answer, "kind") != "ExecCredential" || text(answer, "apiVersion") != plugin.api_version) {
    return wrong(plugin, cat("printed a ", clip(text(answer, "kind"), 60), " of ", clip(text(answer, "apiVersion"), 60),
                             ", expected an ExecCredential of ", plugin.api_version));
  }
  const json& status = at(answer, "status");
  if (!status.is_object()) return wrong(plugin, "printed no status");
  PluginCredential out;
  out.token = text(status, "token");
  out.certificate_pem = text(status, "clientCertificateData");
  out.key_pem = text(status, "clientKeyData");
  if (!out.token.empty()) {
    ASSIGN_OR_RETURN(out.token, as_token(out.token, cat("the exec plugin ", plugin.command)));
  }
  if (out.certificate_pem.empty() != out.key_pem.empty())
    return wrong(plugin, "printed a certificate without a key, or a key without a certificate");
  if (out.token.empty() && out.certificate_pem.empty())
    return wrong(plugin, "printed neither a token nor a certificate");
  if (const std::string expires = text(status, "expirationTimestamp"); !expires.empty()) {
    out.expires = parse_rfc3339(expires);
    if (!out.expires.is_set()) return wrong(plugin, "printed an expirationTimestamp that is not an RFC 3339 time");
  }
  return out;
}

absl::StatusOr<PluginCredential> run_plugin(const ExecPlugin& plugin, const Cluster& cluster) {
  ChildProgram program;
  program.command = {plugin.command};
  program.command.insert(program.command.end(), plugin.arguments.begin(), plugin.arguments.end());
  program.environment = plugin.environment;
  program.environment.emplace_back("KUBERNETES_EXEC_INFO", exec_info(plugin, cluster));
  program.time = kPluginTime;
  program.most_output = kMostOutput;
  const absl::StatusOr<ChildResult> done = run_child(program);
  if (!done.ok()) {
    return wrong(plugin, cat("cannot be run: ", std::string(done.status().message()),
                             plugin.install_hint.empty() ? "" : "; ", clip(plugin.install_hint, kShownOfAFailure)));
  }
  if (done->exit_code != 0) {
    return wrong(plugin, cat("ended with ", done->exit_code, ": ", clip(done->errors, kShownOfAFailure)));
  }
  return parse_credential(done->output, plugin);
}

}  // namespace hodei::providers::kubernetes

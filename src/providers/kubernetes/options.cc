#include "src/providers/kubernetes/options.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "src/base/status.h"
#include "src/providers/kubernetes/names.h"

namespace hodei::providers::kubernetes {
namespace {

constexpr const char* kServiceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr const char* kNamespace = "hodei-workers";
constexpr const char* kWorkerImage = "hodei-worker:latest";
constexpr const char* kImage = "debian:12-slim";
constexpr int64_t kUser = 65532;       // "nonroot" of many minimal images; owns nothing
constexpr int64_t kGraceSeconds = 10;  // well below the limit of one call, which waits for the end
constexpr int64_t kMostGraceSeconds = 20;
constexpr int64_t kLeaveSeconds = 600;
constexpr int64_t kMostLeaveSeconds = 30 * 24 * 3600;
constexpr int64_t kMostWorkers = 100'000;
constexpr size_t kMostInAList = 64;

constexpr const char* kKnown[] = {
    "kubeconfig",
    "context",
    "service_account_folder",
    "namespace",
    "worker_image",
    "image",
    "pull_policy",
    "node_selector",
    "tolerations",
    "service_account",
    "image_pull_secrets",
    "priority_class",
    "runtime_class",
    "gpu",
    "gpu_resource",
    "run_as_user",
    "grace_seconds",
    "leave_seconds",
    "max_cpu",
    "max_memory_mb",
    "max_workers",
};

// How many letters must change, be added or go.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

absl::Status unknown_option(const std::string& key) {
  std::string all;
  const char* nearest = nullptr;
  size_t best = 4;
  for (const char* known : kKnown) {
    all += cat(all.empty() ? "" : ", ", known);
    if (const size_t far = distance(key, known); far < best) {
      best = far;
      nearest = known;
    }
  }
  if (nearest != nullptr) return bad_field(key, "is not an option of kubernetes; did you mean ", nearest, "?");
  return bad_field(key, "is not an option of kubernetes; the options are ", all);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

class Reader {
 public:
  Reader(const StringMap& options, Environment environment) : options_(options), environment_(environment) {}

  std::string text(const char* key, std::initializer_list<const char*> variables, const char* otherwise) const {
    if (const auto it = options_.find(key); it != options_.end() && !it->second.empty()) return it->second;
    for (const char* variable : variables) {
      if (const auto value = environment_(variable); value && !value->empty()) return *value;
    }
    return otherwise;
  }

  absl::Status number(const char* key, int64_t least, int64_t most, int64_t otherwise, int64_t& out) const {
    const std::string given = text(key, {}, "");
    out = otherwise;
    if (given.empty()) return absl::OkStatus();
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), out);
    if (error == std::errc() && end == given.data() + given.size() && out >= least && out <= most)
      return absl::OkStatus();
    return bad_field(key, "'", given, "' is not a whole number from ", least, " to ", most);
  }

  // A name of an object in the cluster, or none.
  absl::Status object(const char* key, std::initializer_list<const char*> variables, const char* otherwise,
                      std::string& out) const {
    out = text(key, variables, otherwise);
    if (out.empty() || is_object_name(out)) return absl::OkStatus();
    return bad_field(key, "'", out, "' is not a Kubernetes name: at most 253 lowercase letters, digits, '-' and '.'");
  }

 private:
  const StringMap& options_;
  Environment environment_;
};

// "key=value:Effect", "key:Effect", "key=value", "key".
absl::StatusOr<Toleration> parse_toleration(std::string_view text) {
  Toleration out;
  std::string_view rest = text;
  if (const size_t colon = rest.rfind(':'); colon != std::string_view::npos) {
    out.effect = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
  }
  if (const size_t equals = rest.find('='); equals != std::string_view::npos) {
    out.value = rest.substr(equals + 1);
    rest = rest.substr(0, equals);
  }
  out.key = rest;
  const bool effect =
      out.effect.empty() || out.effect == "NoSchedule" || out.effect == "PreferNoSchedule" || out.effect == "NoExecute";
  if (effect && is_label_key(out.key) && is_label_value(out.value)) return out;
  return bad_field("tolerations", "'", text, "' is not of the form key=value:NoSchedule, key:NoExecute or key=value");
}

absl::Status read_lists(const Reader& reader, KubernetesOptions& out) {
  const std::vector<std::string> selectors = split(reader.text("node_selector", {}, ""), ',');
  const std::vector<std::string> tolerations = split(reader.text("tolerations", {}, ""), ',');
  out.image_pull_secrets = split(reader.text("image_pull_secrets", {}, ""), ',');
  if (std::max({selectors.size(), tolerations.size(), out.image_pull_secrets.size()}) > kMostInAList) {
    return absl::InvalidArgumentError(
        cat("node_selector, tolerations and image_pull_secrets take at most ", kMostInAList, " entries each"));
  }
  for (const std::string& one : selectors) {
    const size_t equals = one.find('=');
    const std::string key = one.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : one.substr(equals + 1);
    if (equals == std::string::npos || !is_label_key(key) || !is_label_value(value)) {
      return bad_field("node_selector", "'", one, "' is not of the form key=value; separate several with commas");
    }
    out.node_selector[key] = value;
  }
  for (const std::string& one : tolerations) {
    ASSIGN_OR_RETURN(Toleration toleration, parse_toleration(one));
    out.tolerations.push_back(std::move(toleration));
  }
  for (const std::string& one : out.image_pull_secrets) {
    if (!is_object_name(one)) return bad_field("image_pull_secrets", "'", one, "' is not the name of a Secret");
  }
  return absl::OkStatus();
}

absl::Status read_numbers(const Reader& reader, KubernetesOptions& out) {
  int64_t cores = 0, workers = 0;
  RETURN_IF_ERROR(reader.number("run_as_user", 1, UINT32_MAX, kUser, out.run_as_user));  // never 0: that is root
  RETURN_IF_ERROR(reader.number("grace_seconds", 0, kMostGraceSeconds, kGraceSeconds, out.grace_seconds));
  RETURN_IF_ERROR(reader.number("leave_seconds", 0, kMostLeaveSeconds, kLeaveSeconds, out.leave_seconds));
  RETURN_IF_ERROR(reader.number("max_cpu", 0, 4096, 0, cores));
  RETURN_IF_ERROR(reader.number("max_memory_mb", 0, int64_t{1} << 30, 0, out.max_memory_mb));
  RETURN_IF_ERROR(reader.number("max_workers", 0, kMostWorkers, 0, workers));
  out.max_cpu_milli = cores * 1000;
  out.max_workers = static_cast<uint32_t>(workers);
  return absl::OkStatus();
}

absl::Status read_choices(const Reader& reader, KubernetesOptions& out) {
  out.pull_policy = reader.text("pull_policy", {}, "IfNotPresent");
  if (out.pull_policy != "Always" && out.pull_policy != "IfNotPresent" && out.pull_policy != "Never") {
    return bad_field("pull_policy", "'", out.pull_policy, "' is not one of Always, IfNotPresent, Never");
  }
  const std::string gpu = reader.text("gpu", {}, "false");
  if (gpu != "true" && gpu != "false" && gpu != "1" && gpu != "0")
    return bad_field("gpu", "'", gpu, "' is not true or false");
  out.gpu = gpu == "true" || gpu == "1";
  out.gpu_resource = reader.text("gpu_resource", {}, "nvidia.com/gpu");
  if (!is_label_key(out.gpu_resource) || out.gpu_resource.find('/') == std::string::npos) {
    return bad_field("gpu_resource", "'", out.gpu_resource, "' is not the name of a resource such as nvidia.com/gpu");
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<std::string> process_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

absl::StatusOr<KubernetesOptions> read_options(const StringMap& options, Environment environment) {
  for (const auto& [key, value] : options) {
    if (std::find(std::begin(kKnown), std::end(kKnown), key) == std::end(kKnown)) return unknown_option(key);
  }
  const Reader reader(options, environment);
  KubernetesOptions out;
  out.kubeconfig = reader.text("kubeconfig", {"HODEI_K8S_KUBECONFIG", "KUBECONFIG"}, "");
  out.context = reader.text("context", {}, "");
  out.service_account_folder = reader.text("service_account_folder", {}, kServiceAccountFolder);
  RETURN_IF_ERROR(reader.object("namespace", {"HODEI_K8S_NAMESPACE"}, kNamespace, out.namespace_name));
  out.worker_image = reader.text("worker_image", {"HODEI_WORKER_IMAGE"}, kWorkerImage);
  out.image = reader.text("image", {}, kImage);
  RETURN_IF_ERROR(reader.object("service_account", {}, "", out.service_account));
  RETURN_IF_ERROR(reader.object("priority_class", {}, "", out.priority_class));
  RETURN_IF_ERROR(reader.object("runtime_class", {}, "", out.runtime_class));
  RETURN_IF_ERROR(read_choices(reader, out));
  RETURN_IF_ERROR(read_numbers(reader, out));
  RETURN_IF_ERROR(read_lists(reader, out));
  return out;
}

}  // namespace hodei::providers::kubernetes

#include "src/providers/kubernetes/pod.h"

#include <nlohmann/json.hpp>

#include "src/base/sizes.h"
#include "src/base/status.h"
#include "src/providers/kubernetes/names.h"
#include "src/providers/worker_environment.h"

namespace hodei::providers::kubernetes {
namespace {

using nlohmann::json;

constexpr const char* kProgramFolder = "/hodei";
constexpr const char* kStateFolder = "/hodei-state";
constexpr const char* kSecretsFolder = "/hodei-secrets";  // in memory
// The worker's program, its session and what it has not sent yet are in volumes of the pod too. A job's storage is what
// the job has for itself.
constexpr int64_t kOwnStorageMb = 256;
constexpr const char* kSecretsSize = "8Mi";
constexpr const char* kTokenVariable = "HODEI_TOKEN";
constexpr const char* kTokenKey = "token";

// `uname -m` → GOARCH, the values of kubernetes.io/arch.
std::string node_architecture(const std::string& machine) {
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  if (machine == "armv7l" || machine == "armv6l") return "arm";
  return machine;
}

// Kubernetes reads $(NAME) in values as another variable.
std::string literal(const std::string& value) {
  std::string out;
  for (const char c : value) {
    if (c == '$') out.push_back('$');
    out.push_back(c);
  }
  return out;
}

std::string name_of(const PodMaker& maker, const WorkerSpec& spec) {
  return pod_name(maker.installation_id, spec.worker_id);
}

json labels_of(const PodMaker& maker, const WorkerSpec& spec) {
  return {{"app.kubernetes.io/name", "hodei-worker"},
          {"app.kubernetes.io/managed-by", "hodei"},
          {kInstallationLabel, label_value(maker.installation_id)},
          {kProviderLabel, label_value(maker.provider.name)},
          {kWorkerLabel, label_value(spec.worker_id)}};
}

json environment_of(const PodMaker& maker, const WorkerSpec& spec) {
  json out = json::array();
  StringMap words = worker_environment(maker.provider, maker.capabilities, spec, kStateFolder);
  words["HODEI_SECRETS_DIR"] = kSecretsFolder;
  words["HODEI_LEAVE_AFTER"] = cat(maker.options.leave_seconds, "s");
  for (const auto& [name, value] : words) {
    if (name == kTokenVariable) continue;
    out.push_back({{"name", name}, {"value", literal(value)}});
  }
  const json reference = {{"name", secret_name(name_of(maker, spec))}, {"key", kTokenKey}};
  out.push_back({{"name", kTokenVariable}, {"valueFrom", {{"secretKeyRef", reference}}}});
  return out;
}

json amounts_of(const PodMaker& maker, const WorkerSpec& spec, bool with_gpus) {
  json out = json::object();
  if (spec.cpu_milli > 0) out["cpu"] = cat(spec.cpu_milli, "m");
  if (spec.memory_mb > 0) out["memory"] = cat(spec.memory_mb, "Mi");
  if (spec.storage_mb > 0) out["ephemeral-storage"] = cat(spec.storage_mb + kOwnStorageMb, "Mi");
  if (spec.gpus > 0 && with_gpus) out[maker.options.gpu_resource] = std::to_string(spec.gpus);
  return out;
}

// Requests equal limits: a worker has what its jobs were promised, no less and no more.
void add_resources(json& container, const json& amounts) {
  if (!amounts.empty()) container["resources"] = {{"requests", amounts}, {"limits", amounts}};
}

json container_security() {
  return {
      {"allowPrivilegeEscalation", false}, {"privileged", false}, {"capabilities", {{"drop", json::array({"ALL"})}}}};
}

json install_container(const PodMaker& maker, const WorkerSpec& spec) {
  json out = {{"name", kInstallContainer},
              {"image", maker.options.worker_image},
              {"imagePullPolicy", maker.options.pull_policy},
              {"args", json::array({"install", cat(kProgramFolder, "/hodei-worker")})},
              {"securityContext", container_security()},
              {"volumeMounts", json::array({{{"name", "program"}, {"mountPath", kProgramFolder}}})}};
  // The largest of both containers counts, so the same amounts cost nothing; quotas want them told.
  add_resources(out, amounts_of(maker, spec, false));
  return out;
}

json worker_container(const PodMaker& maker, const WorkerSpec& spec) {
  json out = {{"name", kWorkerContainer},
              {"image", spec.image.empty() ? maker.options.image : spec.image},
              {"imagePullPolicy", maker.options.pull_policy},
              {"command", json::array({cat(kProgramFolder, "/hodei-worker")})},
              {"env", environment_of(maker, spec)},
              {"securityContext", container_security()},
              {"volumeMounts", json::array({{{"name", "program"}, {"mountPath", kProgramFolder}, {"readOnly", true}},
                                            {{"name", "state"}, {"mountPath", kStateFolder}},
                                            {{"name", "secrets"}, {"mountPath", kSecretsFolder}}})}};
  add_resources(out, amounts_of(maker, spec, true));
  return out;
}

void add_placement(const PodMaker& maker, const WorkerSpec& spec, json& out) {
  json selector = maker.options.node_selector;
  if (!spec.architecture.empty()) selector["kubernetes.io/arch"] = node_architecture(spec.architecture);
  if (!selector.empty()) out["nodeSelector"] = selector;
  for (const Toleration& toleration : maker.options.tolerations) {
    json one = {{"key", toleration.key}, {"operator", toleration.value.empty() ? "Exists" : "Equal"}};
    if (!toleration.value.empty()) one["value"] = toleration.value;
    if (!toleration.effect.empty()) one["effect"] = toleration.effect;
    out["tolerations"].push_back(one);
  }
  if (!maker.options.service_account.empty()) out["serviceAccountName"] = maker.options.service_account;
  if (!maker.options.priority_class.empty()) out["priorityClassName"] = maker.options.priority_class;
  if (!maker.options.runtime_class.empty()) out["runtimeClassName"] = maker.options.runtime_class;
  for (const std::string& name : maker.options.image_pull_secrets) out["imagePullSecrets"].push_back({{"name", name}});
}

json spec_of(const PodMaker& maker, const WorkerSpec& spec) {
  const int64_t user = maker.options.run_as_user;
  json out = {
      {"restartPolicy", "Never"},
      {"terminationGracePeriodSeconds", maker.options.grace_seconds},
      {"automountServiceAccountToken", false},  // a job has no business with the cluster
      {"enableServiceLinks", false},
      {"securityContext",
       {{"runAsNonRoot", true},
        {"runAsUser", user},
        {"runAsGroup", user},
        {"fsGroup", user},
        {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
      {"initContainers", json::array({install_container(maker, spec)})},
      {"containers", json::array({worker_container(maker, spec)})},
      {"volumes",
       json::array({{{"name", "program"}, {"emptyDir", json::object()}},
                    {{"name", "state"}, {"emptyDir", json::object()}},
                    {{"name", "secrets"}, {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", kSecretsSize}}}}})}};
  add_placement(maker, spec, out);
  return out;
}

}  // namespace

absl::Status check_spec(const PodMaker& maker, const WorkerSpec& spec) {
  if (spec.worker_id.empty()) return bad_field("worker_id", "is empty");
  if (spec.gpus > 0 && !maker.capabilities.gpu) {
    return absl::FailedPreconditionError("gpus: this provider is not set up for GPUs; set its option gpu=true");
  }
  if (maker.capabilities.max_cpu_milli > 0 && spec.cpu_milli > maker.capabilities.max_cpu_milli) {
    return bad_field("cpu", spec.cpu_milli, "m is above this provider's max_cpu of ", maker.capabilities.max_cpu_milli,
                     "m");
  }
  if (maker.capabilities.max_memory_mb > 0 && spec.memory_mb > maker.capabilities.max_memory_mb) {
    const auto [asked, most] = megabytes_apart(spec.memory_mb, maker.capabilities.max_memory_mb);
    return bad_field("memory", asked, " is above this provider's max_memory_mb of ", most);
  }
  return absl::OkStatus();
}

json pod_for(const PodMaker& maker, const WorkerSpec& spec) {
  // The labels may be short forms; annotations hold the full values.
  const json annotations = {{kInstallationLabel, maker.installation_id},
                            {kProviderLabel, maker.provider.name},
                            {kWorkerLabel, spec.worker_id}};
  return {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", {{"name", name_of(maker, spec)}, {"labels", labels_of(maker, spec)}, {"annotations", annotations}}},
      {"spec", spec_of(maker, spec)}};
}

json secret_for(const PodMaker& maker, const WorkerSpec& spec, const std::string& pod_uid) {
  const json owner = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", name_of(maker, spec)}, {"uid", pod_uid}};
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"metadata",
           {{"name", secret_name(name_of(maker, spec))},
            {"labels", labels_of(maker, spec)},
            {"ownerReferences", json::array({owner})}}},
          {"type", "Opaque"},
          {"immutable", true},
          {"stringData", {{kTokenKey, spec.token}}}};
}

std::string selector_of(const PodMaker& maker) {
  return cat(kInstallationLabel, "=", label_value(maker.installation_id), ",", kProviderLabel, "=",
             label_value(maker.provider.name));
}

}  // namespace hodei::providers::kubernetes

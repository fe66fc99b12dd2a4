#include "src/providers/kubernetes/kubernetes_provider.h"

#include <nlohmann/json.hpp>
#include <set>

#include "src/base/pause.h"
#include "src/base/status.h"
#include "src/providers/kubernetes/health.h"
#include "src/providers/kubernetes/informer.h"
#include "src/providers/kubernetes/names.h"
#include "src/providers/kubernetes/pod.h"

namespace hodei::providers {
namespace {

using namespace kubernetes;

constexpr Duration kStartupTime = 10s;
constexpr Duration kDestroyTime = 27s;  // below kCallTimeout
constexpr Duration kFirstLook = 30ms;
constexpr Duration kLongestLook = 1s;
constexpr Duration kOverdue = 60s;  // past its deletion time: the node is lost, nobody will say that it ended

Capabilities capabilities_of(const KubernetesOptions& options) {
  Capabilities out;
  out.max_cpu_milli = options.max_cpu_milli;
  out.max_memory_mb = options.max_memory_mb;
  out.gpu = options.gpu;
  out.images = true;
  out.max_workers = options.max_workers;
  out.isolation = Isolation::Container;
  out.sandbox = false;  // pods have no capabilities, and the usual filter of system calls
  return out;
}

class KubernetesProvider final : public Provider {
 public:
  explicit KubernetesProvider(PodMaker maker)
      : maker_(std::move(maker)),
        installation_label_(label_value(maker_.installation_id)),
        provider_label_(label_value(maker_.provider.name)),
        api_(maker_.options),
        pods_(api_, maker_.options),
        informer_(pods_, selector_of(maker_)) {}

  Capabilities capabilities() const override { return maker_.capabilities; }

  absl::StatusOr<WorkerHandle> create_worker(const WorkerSpec& spec) override {
    RETURN_IF_ERROR(check_spec(maker_, spec));
    RETURN_IF_ERROR(check_reach(spec.server_address));
    const std::string name = name_of(spec.worker_id);
    RETURN_IF_ERROR(take_room(name));
    absl::StatusOr<WorkerHandle> made = create_in_room(spec);
    give_room_back(name);
    return made;
  }

  absl::StatusOr<WorkerStatus> worker_status(const WorkerHandle& handle) override {
    ASSIGN_OR_RETURN(const std::optional<PodView> pod, find_ours(handle, true));
    return pod ? pod->status : WorkerStatus{};
  }

  absl::Status destroy_worker(const WorkerHandle& handle) override {
    const MonoTime end = clock_.now().mono + kDestroyTime;
    bool asked = false;
    for (Duration pause = kFirstLook;; pause = std::min(pause * 2, kLongestLook)) {
      ASSIGN_OR_RETURN(const std::optional<PodView> pod, find_ours(handle, false));
      if (!pod) return absl::OkStatus();
      if (!asked) RETURN_IF_ERROR(remove(*pod));
      asked = true;
      if (clock_.now().mono + pause >= end) {
        return absl::DeadlineExceededError(cat("pod ", pod->name, " is still terminating; try again later"));
      }
      pause_for(pause);
    }
  }

  absl::StatusOr<std::string> worker_logs(const WorkerHandle& handle, size_t tail) override {
    ASSIGN_OR_RETURN(const std::optional<PodView> pod, find_ours(handle, false));
    if (!pod) return absl::NotFoundError(cat("worker ", handle.worker_id, " has no pod in ", pods_.namespace_name()));
    return pods_.logs(pod->name, kWorkerContainer, tail);
  }

  absl::StatusOr<std::vector<OwnedWorker>> list_workers() override {
    ASSIGN_OR_RETURN(const PodList all, pods_.list(selector_of(maker_)));
    std::vector<OwnedWorker> out;
    for (const PodView& pod : all.pods) out.push_back({.handle = pod.handle(), .status = pod.status});
    return out;
  }

  Health health_check() override { return check_health(api_, pods_.namespace_name()); }

  Duration estimated_startup_time() const override { return kStartupTime; }

  void watch(Changed changed) override { informer_.start(std::move(changed)); }
  void unwatch() override { informer_.stop(); }

 private:
  std::string name_of(const std::string& worker_id) const { return pod_name(maker_.installation_id, worker_id); }

  // A pod of a cluster elsewhere does not reach the loopback of this machine. Where the cluster is on this machine
  // nobody can tell.
  absl::Status check_reach(const std::string& server_address) {
    if (!is_loopback(server_address)) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::string url, api_.server_url());
    if (is_loopback(url.substr(url.find("://") == std::string::npos ? 0 : url.find("://") + 3)))
      return absl::OkStatus();
    return absl::FailedPreconditionError(
        cat("server_address: pods cannot reach this server at ", server_address,
            ", which only this machine can reach; start the server with --listen 0.0.0.0:PORT, or set --advertise "
            "HOST:PORT to an address that pods can reach"));
  }

  bool is_ours(const PodView& pod) const {
    return pod.installation == installation_label_ && pod.provider == provider_label_;
  }

  // One more pod may be there; until give_room_back it counts even if no list shows it yet.
  absl::Status take_room(const std::string& name) {
    if (maker_.options.max_workers == 0) return absl::OkStatus();
    const std::lock_guard lock(room_mutex_);
    // Asked under the lock: what a list does not show yet is in coming_.
    ASSIGN_OR_RETURN(const PodList there, pods_.list(selector_of(maker_)));
    std::set<std::string> taken(coming_.begin(), coming_.end());
    for (const PodView& pod : there.pods) taken.insert(pod.name);
    if (taken.size() >= maker_.options.max_workers && !taken.contains(name)) {
      return absl::ResourceExhaustedError(
          cat("max_workers: all ", maker_.options.max_workers, " pods that this provider may have are in use"));
    }
    coming_.insert(name);
    return absl::OkStatus();
  }
  void give_room_back(const std::string& name) {
    const std::lock_guard lock(room_mutex_);
    if (const auto it = coming_.find(name); it != coming_.end()) coming_.erase(it);
  }

  absl::StatusOr<WorkerHandle> create_in_room(const WorkerSpec& spec) {
    absl::StatusOr<PodView> pod = pods_.create(pod_for(maker_, spec));
    if (absl::IsAlreadyExists(pod.status())) pod = already_there(spec);
    if (absl::IsNotFound(pod.status())) {
      return absl::FailedPreconditionError(cat("namespace: ", std::string(pod.status().message()),
                                               "; create it (kubectl apply -k deploy/kubernetes) or set the "
                                               "option namespace"));
    }
    if (!pod.ok()) return pod.status();
    const absl::Status secret = pods_.create_secret(secret_for(maker_, spec, pod->uid));
    if (secret.ok()) return pod->handle();
    // Without its token it would wait for ever.
    pods_.remove(pod->name, pod->uid, 0).IgnoreError();
    return secret;
  }

  absl::StatusOr<PodView> already_there(const WorkerSpec& spec) {
    ASSIGN_OR_RETURN(const std::optional<PodView> pod, pods_.get(name_of(spec.worker_id)));
    if (!pod)
      return absl::UnavailableError(cat("pod ", name_of(spec.worker_id), " was deleted in the meantime; try again"));
    if (!is_ours(*pod)) {
      return absl::AlreadyExistsError(cat("pod ", pod->name, " in ", pods_.namespace_name(),
                                          " belongs to another installation or "
                                          "provider; use another namespace"));
    }
    if (pod->deleting)
      return absl::UnavailableError(cat("pod ", pod->name, " is being deleted; try again once it is gone"));
    return *pod;
  }

  // Nothing: it is gone, never existed, or belongs to another installation.
  absl::StatusOr<std::optional<PodView>> find_ours(const WorkerHandle& handle, bool cached_is_enough) {
    for (const std::string& name : {name_of(handle.worker_id), former_pod_name(handle.worker_id)}) {
      std::optional<PodView> pod;
      if (cached_is_enough) pod = informer_.find(name);
      if (!pod) {
        ASSIGN_OR_RETURN(pod, pods_.get(name));
      }
      if (pod && is_ours(*pod) && (handle.id.empty() || handle.id == pod->uid)) return pod;
    }
    return std::nullopt;
  }

  absl::Status remove(const PodView& pod) {
    const bool overdue = pod.deleting && clock_.now().wall > pod.deletion_due + kOverdue;
    if (!pod.deleting || overdue) {
      RETURN_IF_ERROR(pods_.remove(pod.name, pod.uid, overdue ? 0 : maker_.options.grace_seconds));
    }
    // It goes with its owner anyway, but later.
    pods_.remove_secret(secret_name(pod.name)).IgnoreError();
    informer_.forget(pod);
    return absl::OkStatus();
  }

  const PodMaker maker_;
  const std::string installation_label_;
  const std::string provider_label_;
  SystemClock clock_;
  Api api_;
  Pods pods_;
  Informer informer_;

  std::mutex room_mutex_;
  std::multiset<std::string> coming_;  // names of pods that are being made
};

}  // namespace

absl::StatusOr<std::unique_ptr<Provider>> make_kubernetes_provider(const ProviderConfig& config,
                                                                   const Installation& installation) {
  ASSIGN_OR_RETURN(KubernetesOptions options, read_options(config.options));
  PodMaker maker;
  maker.provider = config;
  maker.installation_id = installation.id;
  maker.capabilities = capabilities_of(options);
  maker.options = std::move(options);
  return std::make_unique<KubernetesProvider>(std::move(maker));
}

}  // namespace hodei::providers

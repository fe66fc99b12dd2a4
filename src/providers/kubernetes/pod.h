// The Pod and the Secret that stand for one worker, as JSON that the API server takes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "src/providers/kubernetes/options.h"
#include "src/providers/provider.h"

namespace hodei::providers::kubernetes {

inline constexpr const char* kWorkerContainer = "worker";
inline constexpr const char* kInstallContainer = "install-worker";

// Who makes it and how: all that a pod depends on besides the worker's own spec.
struct PodMaker {
  ProviderConfig provider;
  std::string installation_id;
  Capabilities capabilities;
  KubernetesOptions options;
};

// Only what it refuses itself; the rest is the API server's to judge.
absl::Status check_spec(const PodMaker& maker, const WorkerSpec& spec);

nlohmann::json pod_for(const PodMaker& maker, const WorkerSpec& spec);

// Holds the one-time token, apart from the pod: whoever may read pods does not read it there, nor in an audit log of
// them. It is owned by the pod (its UID is known only after the pod was made) and goes with it, whatever happens to us:
// were it made first, a crash before the pod would leave it behind. The pod's first container does not need it, and the
// second waits for it.
nlohmann::json secret_for(const PodMaker& maker, const WorkerSpec& spec, const std::string& pod_uid);

// "hodei.installation=…,hodei.provider=…": what is ours.
std::string selector_of(const PodMaker& maker);

}  // namespace hodei::providers::kubernetes

// The pods of one namespace: the few verbs that a provider needs.
#pragma once

#include <optional>
#include <vector>

#include "src/providers/kubernetes/api.h"
#include "src/providers/kubernetes/pod_view.h"

namespace hodei::providers::kubernetes {

struct PodList {
  std::vector<PodView> pods;
  std::string resource_version;  // from where a watch goes on
};

struct PodEvent {
  enum class Kind { Changed, Deleted, Bookmark };
  Kind kind = Kind::Changed;
  PodView pod;  // not of a bookmark
  std::string resource_version;
};

class Pods {
 public:
  Pods(Api& api, const KubernetesOptions& options) : api_(api), namespace_(options.namespace_name) {}

  absl::StatusOr<PodView> create(const nlohmann::json& pod);
  absl::StatusOr<std::optional<PodView>> get(const std::string& name);
  absl::StatusOr<PodList> list(const std::string& selector);

  // OK also when it is gone, or another pod has its name now.
  absl::Status remove(const std::string& name, const std::string& uid, int64_t grace_seconds);

  absl::Status create_secret(const nlohmann::json& secret);  // OK also when it is there
  absl::Status remove_secret(const std::string& name);       // OK also when it is not

  // Empty as long as the container has not begun.
  absl::StatusOr<std::string> logs(const std::string& name, const std::string& container, size_t tail);

  // Ends by itself after a while, OK; OUT_OF_RANGE: the version is too old, list again.
  absl::Status watch(const std::string& selector, const std::string& resource_version, std::stop_token stop,
                     const std::function<void()>& on_begin, const std::function<void(const PodEvent&)>& on_event);

  const std::string& namespace_name() const { return namespace_; }
  Api& api() { return api_; }

 private:
  std::string path(std::string_view rest) const;
  absl::StatusOr<nlohmann::json> ask(const ApiRequest& request);

  Api& api_;
  const std::string namespace_;
};

}  // namespace hodei::providers::kubernetes

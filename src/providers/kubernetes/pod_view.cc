#include "src/providers/kubernetes/pod_view.h"

#include <algorithm>
#include <cctype>

#include "src/base/clip.h"
#include "src/base/text.h"
#include "src/providers/kubernetes/exec_plugin.h"
#include "src/providers/kubernetes/json_fields.h"
#include "src/providers/kubernetes/pod.h"
#include "src/providers/worker_environment.h"

namespace hodei::providers::kubernetes {
namespace {

using nlohmann::json;

constexpr size_t kShownOfAPodMessage = 300;
constexpr size_t kShownOfAPodReason = 100;

std::string reason_of(const json& object) { return std::string(clip(text(object, "reason"), kShownOfAPodReason)); }

// "reason: message", as far as they are there.
std::string said(const json& object) {
  const std::string reason = reason_of(object);
  const std::string message = text(object, "message");
  return cat(reason, reason.empty() || message.empty() ? "" : ": ", clip(message, kShownOfAPodMessage));
}

bool mentions(const std::string& message, std::initializer_list<const char*> words) {
  std::string small;
  for (const char c : message) small.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  return std::any_of(words.begin(), words.end(), [&](const char* w) { return small.find(w) != std::string::npos; });
}

// The kubelet tries an image again and again; only its message shows whether that can succeed.
bool pull_is_hopeless(const std::string& reason, const std::string& message) {
  if (mentions(message, {"not found", "manifest unknown", "does not exist", "denied", "unauthorized", "forbidden",
                         "no match for platform"})) {
    return true;
  }
  const bool passing =
      mentions(message, {"timeout", "timed out", "connection refused", "no route", "temporary", "toomanyrequests",
                         "too many requests", "unavailable", "reset by peer", "eof", "qps exceeded"});
  return reason == "ImagePullBackOff" && !passing;
}

// Why a container does not start yet.
WorkerStatus waiting(const json& state, const std::string& image) {
  const std::string reason = text(state, "reason");
  const std::string message = text(state, "message");
  WorkerStatus out{.phase = WorkerPhase::Starting};
  if (reason == "ErrImagePull" || reason == "ImagePullBackOff" || reason == "RegistryUnavailable") {
    out.reason = cat("image ", clip(image, kShownOfAPodMessage), " cannot be pulled: ", said(state));
    out.hopeless = pull_is_hopeless(reason, message);
  } else if (reason == "InvalidImageName" || reason == "ErrImageNeverPull" || reason == "ImageInspectError") {
    out.reason = cat("image ", clip(image, kShownOfAPodMessage), " cannot be used: ", said(state));
    out.hopeless = true;
  } else if (reason == "CreateContainerConfigError") {
    out.reason = said(state);
    // The token's Secret comes a moment after the pod.
    out.hopeless = !(mentions(message, {"secret"}) && mentions(message, {"-token", "timed out"}));
  } else if (reason == "CreateContainerError" || reason == "RunContainerError" || reason == "CrashLoopBackOff") {
    out.reason = said(state);
    out.hopeless = reason != "CreateContainerError" || mentions(message, {"no such file", "executable file not found"});
  } else if (!reason.empty() && reason != "ContainerCreating" && reason != "PodInitializing") {
    out.reason = said(state);
  }
  return out;
}

std::string how_it_ended(const json& terminated) {
  const std::string reason = reason_of(terminated);
  const int64_t code = number(terminated, "exitCode");
  const std::string message = text(terminated, "message");
  std::string out = reason == "OOMKilled" ? "it used more memory than its limit (OOMKilled)" : reason;
  if (number(terminated, "signal") != 0) out += cat(out.empty() ? "" : ", ", "signal ", number(terminated, "signal"));
  out += cat(out.empty() ? "" : ", ", "exit code ", code);
  if (!message.empty()) out += cat(": ", clip(message, kShownOfAPodMessage));
  return out;
}

const json& find_container(const json& statuses, const char* name) {
  static const json kNothing;
  if (!statuses.is_array()) return kNothing;
  for (const json& one : statuses) {
    if (text(one, "name") == name) return one;
  }
  return kNothing;
}

std::string unschedulable(const json& status) {
  const json& conditions = at(status, "conditions");
  if (!conditions.is_array()) return {};
  for (const json& one : conditions) {
    if (text(one, "type") == "PodScheduled" && text(one, "status") == "False")
      return cat("no node can run it: ", said(one));
  }
  return {};
}

WorkerStatus pending(const json& status, const json& init, const json& main) {
  if (const std::string why = unschedulable(status); !why.empty()) {
    // A node may come, or another pod end: there is hope.
    return {.phase = WorkerPhase::Starting, .reason = why};
  }
  for (const json* container : {&init, &main}) {
    const json& state = at(*container, "state");
    if (at(state, "waiting").is_object()) {
      WorkerStatus out = waiting(at(state, "waiting"), text(*container, "image"));
      if (!out.reason.empty()) return out;
    }
  }
  return {.phase = WorkerPhase::Starting};
}

WorkerStatus ended(const json& status, const json& init, const json& main) {
  WorkerStatus out{.phase = WorkerPhase::Ended};
  const json& init_end = at(at(init, "state"), "terminated");
  const json& main_end = at(at(main, "state"), "terminated");
  if (!text(status, "reason").empty()) {
    out.reason = said(status);  // Evicted, DeadlineExceeded, NodeLost
  } else if (init_end.is_object() && number(init_end, "exitCode") != 0) {
    out.reason = cat("the worker could not be copied into the pod: ", how_it_ended(init_end));
  } else if (main_end.is_object()) {
    out.reason = how_it_ended(main_end);
  }
  return out;
}

WorkerStatus status_of_pod(const json& pod) {
  const json& status = at(pod, "status");
  const std::string phase = text(status, "phase");
  const json& init = find_container(at(status, "initContainerStatuses"), kInstallContainer);
  const json& main = find_container(at(status, "containerStatuses"), kWorkerContainer);
  const json& state = at(main, "state");
  if (phase == "Succeeded" || phase == "Failed" || at(state, "terminated").is_object())
    return ended(status, init, main);
  if (at(state, "running").is_object()) return {.phase = WorkerPhase::Running};
  if (phase == "Unknown") return {.phase = WorkerPhase::Running, .reason = "its node is not responding"};
  return pending(status, init, main);
}

void note_pull(const json& status, PodView& out) {
  const json& init = find_container(at(status, "initContainerStatuses"), kInstallContainer);
  const json& main = find_container(at(status, "containerStatuses"), kWorkerContainer);
  for (const json* container : {&init, &main}) {
    const json& state = at(at(*container, "state"), "waiting");
    const std::string reason = text(state, "reason");
    if (reason == "ErrImagePull") out.pull_error = waiting(state, text(*container, "image"));
    // Newer kubelets repeat the error there.
    if (reason == "ImagePullBackOff" && !mentions(text(state, "message"), {"errimagepull"})) out.backs_off = true;
  }
}

}  // namespace

void keep_pull_error(const PodView& before, PodView& now) {
  if (!now.backs_off || !before.pull_error || before.uid != now.uid) return;
  now.pull_error = before.pull_error;
  now.status = *before.pull_error;
}

PodView read_pod(const json& pod) {
  const json& metadata = at(pod, "metadata");
  const json& labels = at(metadata, "labels");
  PodView out;
  out.name = text(metadata, "name");
  out.uid = text(metadata, "uid");
  out.installation = text(labels, kInstallationLabel);
  out.provider = text(labels, kProviderLabel);
  out.worker_id = text(at(metadata, "annotations"), kWorkerLabel);
  if (out.worker_id.empty()) out.worker_id = text(labels, kWorkerLabel);
  out.status = status_of_pod(pod);
  note_pull(at(pod, "status"), out);
  if (const std::string due = text(metadata, "deletionTimestamp"); !due.empty()) {
    out.deleting = true;
    out.deletion_due = parse_rfc3339(due);
    if (out.status.reason.empty()) out.status.reason = "it is being deleted";
  }
  return out;
}

}  // namespace hodei::providers::kubernetes

#include "src/providers/docker/docker_provider.h"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "src/base/status.h"
#include "src/providers/docker/container_body.h"
#include "src/providers/docker/container_status.h"
#include "src/providers/docker/docker_options.h"
#include "src/providers/docker/engine.h"
#include "src/providers/docker/event_watch.h"
#include "src/providers/docker/images.h"
#include "src/providers/docker/making.h"
#include "src/providers/docker/worker_tar.h"
#include "src/providers/worker_environment.h"

namespace hodei::providers {
namespace docker {
namespace {

constexpr Duration kFirstStartup = 1s;
constexpr size_t kLastLines = 5;  // lines of a worker that ended, for the reason

class DockerProvider final : public Provider {
 public:
  DockerProvider(ProviderConfig config, Installation installation, DockerOptions options)
      : config_(std::move(config)),
        installation_(std::move(installation)),
        options_(std::move(options)),
        labels_(owner_labels(installation_, config_)),
        engine_(options_.engine),
        images_(engine_, options_),
        watch_(engine_, labels_) {}

  Capabilities capabilities() const override {
    Capabilities out{.images = true, .max_workers = options_.max_workers, .isolation = Isolation::Container};
    const std::optional<EngineInfo> info = known_info();
    if (!info) return out;
    out.max_cpu_milli = info->cpus * 1000;
    out.max_memory_mb = info->memory_bytes >> 20;
    out.gpu = info->nvidia;
    if (!info->architecture.empty()) out.architectures = {info->architecture};
    return out;
  }

  absl::StatusOr<WorkerHandle> create_worker(const WorkerSpec& spec) override {
    RETURN_IF_ERROR(check(spec));
    ASSIGN_OR_RETURN(const std::string network, network_for(options_, spec));
    const Making::Claim claim = making_.claim(spec.worker_id);
    ASSIGN_OR_RETURN(const std::optional<ContainerFacts> there, find_or_clear(spec.worker_id));
    if (there) return WorkerHandle{spec.worker_id, there->id};
    RETURN_IF_ERROR(check_room(spec.worker_id, claim));
    const std::string name = spec.image.empty() ? options_.image : spec.image;
    ASSIGN_OR_RETURN(const ImageFacts image, images_.have(name, claim.stop()));
    ASSIGN_OR_RETURN(const WorkerTar tar, tar_for(image));
    if (claim.stop().stop_requested()) return given_up(spec);
    const StringMap environment = worker_environment(config_, capabilities(), spec, kStatePath);
    const std::string body = container_body(options_, labels_, environment, spec, network);
    absl::StatusOr<std::string> id = engine_.create(name_of(spec.worker_id), body);
    // Another server of this installation was quicker: what it made is the worker.
    if (absl::IsAlreadyExists(id.status())) return made_by_another(spec.worker_id);
    absl::Status made = id.status();
    if (made.ok()) made = engine_.unpack(*id, tar);
    if (made.ok()) made = claim.stop().stop_requested() ? given_up(spec) : engine_.start(*id);
    if (made.ok()) return WorkerHandle{spec.worker_id, *id};
    // Also when the engine made it and only its answer was lost. What cannot be removed now is found by its labels.
    (void)remove_ours({.worker_id = spec.worker_id, .id = id.value_or("")});
    return made;
  }

  absl::StatusOr<WorkerStatus> worker_status(const WorkerHandle& handle) override {
    ASSIGN_OR_RETURN(const std::optional<ContainerFacts> found, find(handle));
    if (found && found->state != "created") return status_of(*found, last_lines(*found));
    // A created container is one that starts in a moment, when a thread of ours is at it.
    if (making_.contains(handle.worker_id))
      return WorkerStatus{.phase = WorkerPhase::Starting, .reason = "being created"};
    return found ? status_of(*found, "") : WorkerStatus{};
  }

  absl::Status destroy_worker(const WorkerHandle& handle) override {
    making_.stop(handle.worker_id);
    return remove_ours(handle);
  }

  absl::StatusOr<std::string> worker_logs(const WorkerHandle& handle, size_t tail) override {
    ASSIGN_OR_RETURN(const std::optional<ContainerFacts> found, find(handle));
    if (!found) return absl::NotFoundError(cat("there is no container for worker ", handle.worker_id));
    return engine_.logs(found->id, tail);
  }

  absl::StatusOr<std::vector<OwnedWorker>> list_workers() override {
    ASSIGN_OR_RETURN(const std::vector<ContainerFacts> containers, engine_.containers(labels_));
    std::vector<OwnedWorker> out;
    for (const ContainerFacts& container : containers) {
      const auto worker = container.labels.find(kWorkerLabel);
      if (worker == container.labels.end()) continue;
      out.push_back({.handle = {worker->second, container.id}, .status = status_of(container, "")});
    }
    return out;
  }

  Health health_check() override {
    const absl::StatusOr<EngineInfo> info = engine_.info();
    if (!info.ok()) return {.state = HealthState::Unhealthy, .reason = std::string(info.status().message())};
    {
      const std::lock_guard lock(mutex_);
      info_ = *info;
      asked_ = true;
    }
    return health_of(*info, options_.engine.text, installation_.worker_binary);
  }

  Duration estimated_startup_time() const override { return kFirstStartup; }

  void watch(Changed changed) override { watch_.start(std::move(changed)); }
  void unwatch() override { watch_.stop(); }

 private:
  std::string name_of(const std::string& worker_id) const { return container_name(installation_, worker_id); }

  absl::Status check(const WorkerSpec& spec) const {
    const bool fit = !spec.worker_id.empty() && std::all_of(spec.worker_id.begin(), spec.worker_id.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
    if (!fit) return bad_field("worker_id", "'", spec.worker_id, "' must contain only a-z, 0-9 and '-'");
    if (spec.server_address.empty())
      return bad_field("server_address", "is required: the worker could not find the server");
    const Capabilities can = capabilities();
    if (spec.gpus > 0 && !can.architectures.empty() && !can.gpu) {
      return absl::FailedPreconditionError(cat("gpus: the engine at ", options_.engine.text,
                                               " has no nvidia runtime; install "
                                               "the NVIDIA container toolkit on its machine"));
    }
    if (!spec.architecture.empty() && !can.architectures.empty() && spec.architecture != can.architectures[0]) {
      return absl::FailedPreconditionError(cat("architecture: the engine at ", options_.engine.text, " runs ",
                                               can.architectures[0], ", not ", spec.architecture));
    }
    return absl::OkStatus();
  }

  // What a crashed server left before the start has an older token: it is made anew.
  absl::StatusOr<std::optional<ContainerFacts>> find_or_clear(const std::string& worker_id) {
    ASSIGN_OR_RETURN(const std::optional<ContainerFacts> found, engine_.container(name_of(worker_id)));
    if (!found) return std::nullopt;
    if (!is_ours(*found, worker_id)) return taken(worker_id);
    if (found->state != "created") return found;
    RETURN_IF_ERROR(engine_.remove(found->id));
    return std::nullopt;
  }

  absl::StatusOr<WorkerHandle> made_by_another(const std::string& worker_id) {
    ASSIGN_OR_RETURN(const std::optional<ContainerFacts> found, engine_.container(name_of(worker_id)));
    if (!found)
      return absl::UnavailableError(
          cat("the container ", name_of(worker_id), " was removed while it was being created; try again"));
    if (!is_ours(*found, worker_id)) return taken(worker_id);
    return WorkerHandle{worker_id, found->id};
  }

  absl::Status taken(const std::string& worker_id) const {
    return absl::FailedPreconditionError(cat("the name ", name_of(worker_id),
                                             " is taken by a container of another installation or provider; "
                                             "it is left alone"));
  }

  absl::Status check_room(const std::string& worker_id, const Making::Claim& claim) {
    if (options_.max_workers == 0) return absl::OkStatus();
    std::set<std::string> others = claim.before();
    // In this order: one that was being made is in the list when it no longer is.
    ASSIGN_OR_RETURN(const std::vector<OwnedWorker> there, list_workers());
    for (const OwnedWorker& worker : there) others.insert(worker.handle.worker_id);
    others.erase(worker_id);
    if (others.size() < options_.max_workers) return absl::OkStatus();
    return absl::ResourceExhaustedError(cat("the provider ", config_.name, " has ", others.size(), " of at most ",
                                            options_.max_workers, " workers (max_workers)"));
  }

  absl::StatusOr<WorkerTar> tar_for(const ImageFacts& image) {
    const bool shared_state = !options_.user.empty() && options_.user != "0" && options_.user != "root";
    const auto held = image.labels.find(kHasWorkerLabel);
    const bool has_worker = held != image.labels.end();
    if (installation_.worker_binary.empty() && !has_worker) {
      return absl::FailedPreconditionError(
          "the static worker (hodei-worker) is not next to the server program, so it cannot be "
          "copied into images; install it there, or use an image built by scripts/docker/build-worker");
    }
    const bool same = has_worker && (installation_.worker_binary.empty() ||
                                     held->second == images_.sum_of(installation_.worker_binary));
    return WorkerTar::make(same ? std::string() : installation_.worker_binary, shared_state);
  }

  static absl::Status given_up(const WorkerSpec& spec) {
    return absl::CancelledError(cat("the worker ", spec.worker_id, " was destroyed while it was being created"));
  }

  bool is_ours(const ContainerFacts& container, const std::string& worker_id) const {
    const auto has = [&](const std::string& key, const std::string& value) {
      const auto it = container.labels.find(key);
      return it != container.labels.end() && it->second == value;
    };
    return has(kWorkerLabel, worker_id) && std::all_of(labels_.begin(), labels_.end(), [&](const auto& label) {
             return has(label.first, label.second);
           });
  }

  // Ours only: what has its name or id but not its marks does not exist for us. An id may be outdated, the name never
  // is.
  absl::StatusOr<std::optional<ContainerFacts>> find(const WorkerHandle& handle) {
    for (const std::string& word : {handle.id, name_of(handle.worker_id), former_container_name(handle.worker_id)}) {
      if (word.empty()) continue;
      ASSIGN_OR_RETURN(std::optional<ContainerFacts> found, engine_.container(word));
      if (found && is_ours(*found, handle.worker_id)) return found;
    }
    return std::nullopt;
  }

  absl::Status remove_ours(const WorkerHandle& handle) {
    ASSIGN_OR_RETURN(const std::optional<ContainerFacts> found, find(handle));
    return found ? engine_.remove(found->id) : absl::OkStatus();
  }

  std::string last_lines(const ContainerFacts& container) {
    if (container.state != "exited" || container.exit_code == 0) return "";
    return engine_.logs(container.id, kLastLines).value_or("");
  }

  // Asked for once; the health check keeps it fresh. An engine that does not answer must not hold up every question.
  std::optional<EngineInfo> known_info() const {
    {
      const std::lock_guard lock(mutex_);
      if (asked_) return info_;
      asked_ = true;
    }
    const absl::StatusOr<EngineInfo> info = engine_.info();
    const std::lock_guard lock(mutex_);
    if (info.ok()) info_ = *info;
    return info_;
  }

  const ProviderConfig config_;
  const Installation installation_;
  const DockerOptions options_;
  const StringMap labels_;
  mutable Engine engine_;
  Images images_;
  Making making_;
  mutable std::mutex mutex_;
  mutable bool asked_ = false;
  mutable std::optional<EngineInfo> info_;
  EventWatch watch_;
};

}  // namespace
}  // namespace docker

absl::StatusOr<std::unique_ptr<Provider>> make_docker_provider(const ProviderConfig& config,
                                                               const Installation& installation) {
  absl::StatusOr<docker::DockerOptions> options = docker::read_options(config.options);
  if (!options.ok()) {
    return absl::Status(options.status().code(),
                        cat("provider ", config.name, ": ", std::string(options.status().message())));
  }
  return std::make_unique<docker::DockerProvider>(config, installation, *std::move(options));
}

}  // namespace hodei::providers

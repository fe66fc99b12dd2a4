// The Docker Engine's API, as far as workers need it: version 1.41, or the nearest that the engine speaks. Every call
// is a connection of its own on the caller's thread; nothing here knows what a worker is.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/http/client.h"
#include "src/providers/docker/docker_options.h"
#include "src/providers/docker/image_reference.h"
#include "src/providers/docker/worker_tar.h"

namespace hodei::providers::docker {

struct EngineInfo {
  std::string version;
  std::string os_type;
  std::string architecture;  // as `uname -m` prints it
  int64_t cpus = 0;
  int64_t memory_bytes = 0;
  bool memory_limit = true;  // it can keep containers to one
  bool cpu_limit = true;
  bool pids_limit = true;
  bool nvidia = false;
};

struct ImageFacts {
  std::string id;
  StringMap labels;
};

struct ContainerFacts {
  std::string id;
  std::string name;   // without the slash
  std::string state;  // created, running, paused, restarting, removing, exited, dead
  std::string error;  // of a start that failed
  int64_t exit_code = 0;
  bool out_of_memory = false;
  int64_t memory_bytes = 0;  // its limit
  StringMap labels;
};

class Engine {
 public:
  explicit Engine(EngineAddress address) : address_(std::move(address)) {}

  const EngineAddress& address() const { return address_; }

  absl::StatusOr<EngineInfo> info();
  absl::StatusOr<std::optional<ImageFacts>> image(const std::string& name);
  // `auth`: the X-Registry-Auth header, or empty.
  absl::Status pull(const ImageReference& image, const std::string& auth, std::stop_token stop);

  // Answers with its id. ALREADY_EXISTS: the name is taken.
  absl::StatusOr<std::string> create(const std::string& name, const std::string& body);
  absl::Status unpack(const std::string& id, const WorkerTar& tar);
  absl::Status start(const std::string& id);
  // By id or name.
  absl::StatusOr<std::optional<ContainerFacts>> container(const std::string& id);
  absl::StatusOr<std::vector<ContainerFacts>> containers(const StringMap& labels);
  absl::StatusOr<std::string> logs(const std::string& id, size_t tail);
  // With its volumes, running or not. OK also when it is not there.
  absl::Status remove(const std::string& id);

  // Blocks while the engine tells what happens to containers with these labels; `connected` first. Always an error.
  struct Event {
    std::string action;
    StringMap attributes;  // the container's labels are among them
  };
  absl::Status events(const StringMap& labels, std::stop_token stop, const std::function<void()>& connected,
                      const std::function<void(const Event&)>& happened);

 private:
  // The URL of the request is only the path and query, without the version.
  absl::StatusOr<http::Response> ask(http::Request request, http::Options options);
  absl::StatusOr<std::string> prefix();
  absl::Status wait_until_removed(const std::string& id);

  EngineAddress address_;
  std::mutex mutex_;
  std::string prefix_;  // "/v1.41", once the engine was asked
};

}  // namespace hodei::providers::docker

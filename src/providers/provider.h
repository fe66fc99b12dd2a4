// The port of everything that creates workers: child processes, containers, pods, microVMs, a user's own program.
//
// A provider decides nothing. It is asked to create a worker, to report its status, and to destroy it. Every call
// blocks its caller's thread, within the limits named here, and may come from several threads at once. A provider keeps
// nothing that it could not find again after a restart: what it creates has the installation's mark and the worker's
// id.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/base/time.h"

namespace hodei::providers {

using StringMap = std::map<std::string, std::string>;

enum class Isolation : uint8_t { Process = 1, Container, Hardware };

// Whose workers these are. Two servers with different data folders on one engine or cluster never touch each other's.
struct Installation {
  std::string id;             // stays the same as long as the data folder does
  std::string folder;         // where providers may keep files of their own, one folder below it each
  std::string worker_binary;  // the static worker; empty: not found beside this program
};

// The configuration of a provider. Each provider has its own options; an unknown option is refused.
struct ProviderConfig {
  std::string name;  // unique in the installation
  std::string type;  // process, docker, kubernetes, firecracker, baremetal, custom, ec2, …
  StringMap options;
};

// What it can make. 0 and empty lists mean: no limit that it knows of.
struct Capabilities {
  int64_t max_cpu_milli = 0;  // of one worker
  int64_t max_memory_mb = 0;
  int64_t usual_cpu_milli = 0;  // of a worker for which no size was requested; 0: as large as possible
  int64_t usual_memory_mb = 0;
  bool gpu = false;
  bool images = false;                     // any image of a job can be used
  bool makes_workers = true;               // false: people start the workers; the provider only represents them
  std::vector<std::string> architectures;  // as `uname -m` prints them
  uint32_t max_workers = 0;                // at once
  Isolation isolation = Isolation::Process;
  bool sandbox = true;  // false: its workers may not make the namespaces that a sandbox needs
};

struct WorkerSpec {
  std::string worker_id;  // [a-z0-9-], fit for a host or file name, unique in the installation
  std::string pool;
  std::string image;           // empty: the provider's own default
  std::string server_address;  // where the worker finds the server: host:port, several comma-separated
  std::string token;           // its one-time token; never in arguments, labels or logs
  int64_t cpu_milli = 0;       // 0: whatever there is
  int64_t memory_mb = 0;
  int64_t storage_mb = 0;
  int64_t gpus = 0;
  std::string architecture;
  uint32_t slots = 1;
  StringMap labels;       // of the worker, for placement
  StringMap environment;  // further variables for the worker's environment
};

// What stands for a made worker. `id` is the provider's own (a container's, a pod's, a process's), empty when it never
// got that far: a provider finds it by worker_id then.
struct WorkerHandle {
  std::string worker_id;
  std::string id;

  bool operator==(const WorkerHandle&) const = default;
};

enum class WorkerPhase : uint8_t {
  Starting = 1,  // an image is pulled, a node is looked for, a kernel boots
  Running,       // its worker process runs; registration is due
  Ended,         // it stopped by itself; what is left of it can be destroyed
  Gone,          // nothing of it is left, or it never was
};

struct WorkerStatus {
  WorkerPhase phase = WorkerPhase::Gone;
  std::string reason;     // as text, if there is something to say: an image that cannot be pulled, OOM
  bool hopeless = false;  // Starting, but it will never run: no such image, over a quota
};

struct OwnedWorker {
  WorkerHandle handle;
  WorkerStatus status;
};

enum class HealthState : uint8_t { Unknown = 0, Healthy, Degraded, Unhealthy };

struct Health {
  HealthState state = HealthState::Unknown;
  std::string reason;
};

class Provider {
 public:
  virtual ~Provider() = default;

  virtual Capabilities capabilities() const = 0;

  // Makes and starts a worker; answers when the engine has taken it on, not when it registers. For the same worker_id
  // again it answers with what is there. On an error nothing stays behind, or it is found by list_workers.
  //   RESOURCE_EXHAUSTED   no room now; try later
  //   INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION   will not work like this: no such image, not supported
  //   anything else        may work when tried again
  virtual absl::StatusOr<WorkerHandle> create_worker(const WorkerSpec& spec) = 0;

  // OK with phase Gone for what is not there; an error only when the provider cannot tell.
  virtual absl::StatusOr<WorkerStatus> worker_status(const WorkerHandle& handle) = 0;

  // Ends it and removes everything that was made for it. OK when nothing is left, also when nothing was.
  virtual absl::Status destroy_worker(const WorkerHandle& handle) = 0;

  // What the worker itself printed: the last `tail` lines.
  virtual absl::StatusOr<std::string> worker_logs(const WorkerHandle& handle, size_t tail) = 0;

  // Everything of this installation that this provider has, running or not.
  virtual absl::StatusOr<std::vector<OwnedWorker>> list_workers() = 0;

  virtual Health health_check() = 0;

  // Addresses of this machine at which its workers reach the server, where that is not the way that clients take: the
  // server opens a port for workers on each before it creates one. They are there when this returns. None: workers come
  // the usual way.
  virtual absl::StatusOr<std::vector<std::string>> worker_port_addresses() { return std::vector<std::string>(); }

  // Before one was measured.
  virtual Duration estimated_startup_time() const = 0;

  // Calls back, from a thread of the provider's own, whenever a worker's status may have changed: the caller asks for
  // it then. What cannot watch does nothing, and is asked from time to time. `unwatch` returns when no call is under
  // way.
  using Changed = std::function<void(const std::string& worker_id)>;
  virtual void watch(Changed changed) { (void)changed; }
  virtual void unwatch() {}
};

// Limits that the caller sets around calls, so that providers agree on them.
inline constexpr Duration kCallTimeout = 30s;
inline constexpr Duration kImageTimeout = std::chrono::minutes(10);  // a create that must fetch an image first

}  // namespace hodei::providers

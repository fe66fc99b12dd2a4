// The ports through which calls use the server, one for each purpose. Calls include these interfaces and never the
// server itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/api/calls/replies.h"
#include "src/base/time.h"
#include "src/core/commands.h"
#include "src/core/envelope.h"
#include "src/providers/provider.h"
#include "src/server/key_horizon.h"
#include "src/server/logs/log_hub.h"
#include "src/server/open_calls.h"
#include "src/server/read_pool.h"
#include "src/server/refused_claims.h"
#include "src/server/service_health.h"
#include "src/server/system_state.h"
#include "src/store/store.h"

namespace hodei::api {

// The way to the loop. Replies are called on the threads of Replies, never on the loop's own.
class Commands {
 public:
  using Lane = Replies::Lane;

  virtual ~Commands() = default;
  // Never refused. Without an envelope it is the server's own act.
  virtual void post(core::EnvelopePtr envelope, core::Command command, ReplyTo reply, Lane lane = Lane::Quick) = 0;
  // For clients: RESOURCE_EXHAUSTED at once when too many wait.
  virtual void post_bounded(core::EnvelopePtr envelope, core::Command command, ReplyTo reply,
                            Lane lane = Lane::Quick) = 0;
  // Whether it is loaded and its store takes what it decides. If not, a question may wait long.
  virtual bool is_well() = 0;
  virtual server::KeyHorizon key_horizon() = 0;
};

// Committed state, read beside the loop.
struct Stored {
  store::Reader& reader;   // for lists and whatever else may take long; on threads of the pool only
  store::Reader& lookups;  // for single rows by their keys; no list can take its connections
  server::ReadPool& pool;
  const Clock& clock;
};

// Output of jobs and artifacts.
struct Files {
  server::ReadPool& pool;
  const Clock& clock;
};

// Whether there is room for more: RESOURCE_EXHAUSTED while the disk is nearly full.
using CheckRoom = std::function<absl::Status()>;

// What is wrong with the standard input that a waiting job was given; empty: nothing.
using InputTrouble = std::function<std::string(JobId)>;

// What a call needs to know whose session it came with.
struct Sessions {
  Commands& commands;
  server::RefusedClaims& refused;
};

// The providers themselves, beside what is stored about them. `done` comes from any thread, and may never come once the
// server stops.
class Providers {
 public:
  virtual ~Providers() = default;
  // Would this one work? Makes it and forgets it.
  virtual void check(const core::ProviderRow& row, std::function<void(const absl::Status&)> done) = 0;
  virtual void check_health(const std::string& name,
                            std::function<void(const absl::StatusOr<providers::Health>&)> done) = 0;
  virtual void worker_logs(const core::WorkerRecord& worker, size_t tail,
                           std::function<void(const absl::StatusOr<std::string>&)> done) = 0;
};

// Pids of the worker that `hodei dev` keeps.
struct LocalWorker {
  int64_t supervisor_pid = 0;
  int64_t agent_pid = 0;
};

// What the server says about itself.
struct SystemDescription {
  server::SystemAssessment state;
  uint64_t epoch = 0;
  uint64_t commits = 0;
  WallTime started;
  std::string data_dir;
  std::string address;
  LocalWorker worker;
  server::LogHubStats logs;
  std::vector<server::ServiceHealth> services;
};

class System {
 public:
  virtual ~System() = default;
  virtual SystemDescription describe(const core::SystemReport& report) = 0;
  virtual std::vector<server::ServiceHealth> services() = 0;
};

}  // namespace hodei::api

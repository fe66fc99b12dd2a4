// The engine's answers to its commands.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/core/placement/config.h"
#include "src/core/placement/decision.h"
#include "src/core/placement/tenant.h"
#include "src/core/provision/provision.h"
#include "src/core/writes.h"

namespace hodei::core {

struct Done {};
// Payload of a refused Submit: the job that owns the idempotency key, a space, and the index of the refused job.
inline constexpr std::string_view kKeyConflict = "hodei.key_conflict";

struct Submitted {
  struct One {
    JobId job{};
    bool existing = false;
    std::string note = {};  // a hint for the submitter; may be empty
  };
  std::vector<One> jobs;
};
struct CancelTaken {
  JobState state{};
};
struct Assigned {
  ExecutionId execution;
};
struct Forgotten {
  std::vector<JobId> live;
};  // not forgotten, because they have not ended
struct TemplatePut {
  TemplateRow row;
};
struct SecretPut {
  int64_t revision = 0;
  WallTime updated;
};
struct Registered {
  WorkerId worker;
};
// `given`: the executions it claims to hold and was indeed given, as far as memory knows; the store knows older ones.
struct StreamOpened {
  WorkerId worker;
  std::vector<ExecutionId> given;
};
struct Reported {
  std::vector<bool> accepted;
};  // started, then progress, then results
struct OtpMade {
  WorkerId worker;
  WallTime expires;
};
struct Drained {
  uint32_t executions_left = 0;
};
// What the worker must do: `drain`, `cancel j1f3k.1` (the execution is to end), `stop j1f3k.1` (it is not this
// worker's).
struct HeartbeatTaken {
  std::vector<std::string> instructions;
};

// A provider that could create a worker for a waiting job, or why it cannot.
struct ProviderCandidate {
  std::string name;
  bool fits = false;
  bool chosen = false;
  std::string reason;
  Duration startup{0};
};

struct Explanation {
  JobId job{};
  JobState state{};
  std::optional<Decision> decision;  // of the newest execution
  uint32_t execution = 0;
  WallTime at;
  std::vector<Candidate> candidates;  // of a waiting job
  std::vector<RuleCount> rejected;
  std::string waiting_for;
  std::string unblock;  // what would get it placed, as text
  int64_t jobs_ahead = 0;
  std::vector<ProviderCandidate> providers;
  std::string provisioning;  // the worker that is being created for it, as text
};

// One text per job, in the order of the question. Empty: only a worker is missing, or the job is not waiting.
struct WaitingWords {
  std::vector<std::string> words;
};

struct QueueReport {
  int64_t pending = 0, scheduled = 0, running = 0, delayed = 0, parked = 0;
  int64_t by_priority[kPriorities] = {};
  std::map<std::string, int64_t> by_namespace;
  int64_t shapes = 0, workers = 0, workers_available = 0, slots = 0, slots_free = 0;
};

struct WorkerView {
  WorkerRecordPtr record;
  WorkerState state{};
  bool connected = false;
  bool unhealthy = false;
  std::string unfit;  // what it reports to be wrong; empty: nothing
  bool stopped = false;
  WallTime paused_until;  // not set: not paused
  std::vector<ExecutionId> executions;
  double cpu_load = 0;
  int64_t memory_used_mb = 0;
  int64_t dropped_logs = 0;
  int64_t succeeded = 0;
  int64_t failed = 0;
  WallTime last_seen;
};
struct WorkerViews {
  std::vector<WorkerView> workers;
};

struct SystemReport {
  int64_t pending = 0, active = 0, workers = 0, unhealthy = 0;
  int64_t bad_providers = 0;     // needed but Unhealthy
  std::string provider_trouble;  // of the first of them, as text
  // Workers as lists show them, indexed by state, without those that announced a stop and are away.
  std::array<int64_t, kWorkerStates + 1> by_state{};
  int64_t stopped = 0;
};

struct ProviderView {
  LiveProvider provider;
  ProviderState state{};
  std::vector<WorkerId> workers;  // not Terminated
};
struct ProviderViews {
  std::vector<ProviderView> providers;
};

struct PoolView {
  PoolRow row;
  uint32_t workers = 0, starting = 0, busy = 0;
  int64_t waiting = 0;  // jobs
};
struct PoolViews {
  std::vector<PoolView> pools;
};

struct TenantView {
  TenantRow row;
  int64_t running = 0, pending = 0;
  Amounts used;  // by its executions
};
struct TenantViews {
  std::vector<TenantView> tenants;
};

struct LimitView {
  std::string ns, key;
  int64_t limit = 0;  // in force; 0: none
  double rate = 0;
  int64_t burst = 0;
  int64_t held = 0, waiting = 0;
  bool is_set = false;  // by SetLimit, not by a job
};
struct LimitViews {
  std::vector<LimitView> limits;
};

using Reply =
    std::variant<Done, Submitted, CancelTaken, Assigned, Forgotten, TemplatePut, SecretPut, Registered, StreamOpened,
                 Reported, OtpMade, Drained, HeartbeatTaken, SchedulerConfig, Explanation, QueueReport, WorkerViews,
                 SystemReport, ProviderViews, PoolViews, TenantViews, LimitViews, WaitingWords>;

}  // namespace hodei::core

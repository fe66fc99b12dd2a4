// The commands of the engine; answers.h has the answers. Values that must be random or secret (tokens, session ids) are
// created by the caller, so that the engine stays deterministic.
//
// A `principal` says who sent the command, and from where. The action is recorded under this name in the audit trail,
// in the same batch. Without a principal (the server acts on its own) nothing is recorded.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "src/core/answers.h"
#include "src/core/job/idempotency.h"
#include "src/core/job/job.h"
#include "src/core/placement/config.h"
#include "src/core/placement/decision.h"
#include "src/core/placement/tenant.h"
#include "src/core/provision/provision.h"
#include "src/core/writes.h"

namespace hodei::core {

// ---- Jobs

struct NewJob {
  JobHead head;                        // from head_of(); the engine sets id, times and state
  std::shared_ptr<SpecRow> spec;       // the engine sets the job number
  std::optional<Hash128> idempotency;  // hash of namespace and key
  uint64_t fingerprint = 0;            // of the spec, to compare with the key's first job; 0: do not compare
  bool allow_other_spec = false;       // the idempotency key may belong to a job with another spec
  int64_t key_limit = 0;               // of its concurrency key; 0: keep the key's limit

  // The engine may not remember all idempotency keys. If the caller has asked the store about this one: the job that
  // owns it, and the number below which all jobs were committed at that time.
  std::optional<KeyOwner> key_owner = {};
  JobId key_asked_before{};  // 0: the store was not asked
};

struct Submit {
  std::vector<NewJob> jobs;
};  // all or none
struct Cancel {
  JobId job{};
  std::string reason;
};
struct Assign {
  JobId job{};
  WorkerId worker;
  std::string principal = {};
};
// Deletes finished jobs with everything stored about them. The caller has checked that they have ended; if one is live
// after all, it is kept and named in the answer.
struct ForgetJobs {
  struct One {
    JobId job{};
    std::string ns;
    std::optional<Hash128> key = {};  // its idempotency key, which is freed with the job
  };
  std::vector<One> jobs;
  std::string principal;  // empty: the retention, not a person; not in the audit trail
  std::string reason;
};

// The most jobs in one command. Their rows are deleted in one commit, for which everything else waits.
inline constexpr size_t kMaxForgottenAtOnce = 500;

struct PutJobTemplate {
  TemplateRow row;
  std::string principal = {};
};  // the engine sets revision and time
struct DropJobTemplate {
  std::string ns;
  std::string name;
  std::string principal = {};
};

// ---- Secrets and the audit trail

struct PutStoredSecret {
  SecretRow row;
  std::string principal;
  std::string detail;
};  // the engine sets revision and time
struct DropStoredSecret {
  std::string ns;
  std::string name;
  std::string principal;
};
struct RecordAudit {
  AuditRow row;
};  // the engine sets number and time

// ---- Reports about executions, from a stream or a unary call

struct StartedReport {
  ExecutionId execution;
  WallTime at;
};
struct ProgressReport {
  ExecutionId execution;
  double percentage = 0;
  std::string message;
};

// Interrupted: the worker was stopped, and has ended the execution or never started it.
enum class Outcome : uint8_t { Succeeded = 1, Failed, Cancelled, TimedOut, Lost, Interrupted };

struct ResultReport {
  ExecutionId execution;
  Outcome outcome = Outcome::Failed;
  std::optional<int> exit_code;
  int signal = 0;
  std::string failure;
  std::string message;
  std::string output;
  WallTime started;  // not set: it never started
  WallTime ended;
  std::optional<int64_t> log_bytes;  // absent: the worker did not say
  RunFacts facts;
};

struct Report {
  WorkerId worker;
  uint64_t stream = 0;  // 0: a unary call
  std::vector<StartedReport> started;
  std::vector<ProgressReport> progress;
  std::vector<ResultReport> results;
};

// ---- Workers

struct MakeOtp {
  Hash128 token;
  WorkerId worker;
  std::string principal = {};
};

struct RegisterWorker {
  std::optional<Hash128> otp;      // either this
  std::optional<Hash128> session;  // or an earlier session
  Hash128 new_session;             // used if there is an otp
  WorkerInfo info;
  std::string incarnation;
  std::string lineage;  // see Incarnation; empty: none
  uint64_t generation = 0;
  std::string principal = {};
  std::vector<std::string> stopped = {};  // see OpenStream
};

struct HeldExecution {
  ExecutionId execution;
  bool started = false;
  bool ended = false;
  bool interrupted = false;  // ended or not started because the worker was stopped
};

struct OpenStream {
  Hash128 session;
  std::string incarnation;
  uint64_t stream = 0;  // a number the caller never reuses
  std::vector<HeldExecution> held;
  std::string lineage;
  uint64_t generation = 0;
  bool stopping = false;      // the worker was told to stop; see WorkerStops
  std::string unfit = {};     // see Heartbeat
  bool lists_active = false;  // its heartbeats list all its executions
  // Earlier starts of this worker that were shut down cleanly and left nothing running. Executions of theirs that are
  // not in `held` were interrupted.
  std::vector<std::string> stopped = {};
};

struct CloseStream {
  WorkerId worker;
  uint64_t stream = 0;
};

struct Heartbeat {
  WorkerId worker;
  uint64_t stream = 0;  // 0: a unary call
  int64_t sent_us = 0;
  double cpu_load = 0;
  int64_t memory_used_mb = 0;
  int64_t dropped_logs = 0;
  std::string unfit = {};                // what the worker reports to be wrong; empty: nothing
  std::vector<ExecutionId> active = {};  // its executions; see OpenStream::lists_active
};

// The worker was told to stop. It gets no new work, reports the end of what it has, and leaves. It may come back.
struct WorkerStops {
  WorkerId worker;
  uint64_t stream = 0;           // 0: it said so while the store was away, and its stream has closed since
  std::string incarnation = {};  // the incarnation that said so; empty: the one that has the stream
};
struct DrainWorker {
  WorkerId worker;
  std::string reason;
  std::string principal = {};
  bool now = false;  // requeue its executions, without counting an attempt
};
// Lets a draining worker take work again.
struct UndrainWorker {
  WorkerId worker;
  std::string principal = {};
};
struct TaintWorker {
  WorkerId worker;
  std::vector<Taint> taints;
  std::string principal = {};
};  // the complete list
// by_itself: the worker says that it runs nothing any more, so its executions are requeued at once. Otherwise it must
// not have any.
struct UnregisterWorker {
  WorkerId worker;
  std::string reason;
  bool by_itself = false;
  std::string principal = {};
  std::string incarnation = {};  // the incarnation that leaves by itself; empty: the current one
};

// ---- Tenants and keys. Absent fields keep their values.

struct SetTenant {
  std::string ns;
  std::optional<double> weight;
  std::optional<int64_t> max_running, max_cpu_milli, max_memory_mb, max_pending;
  std::string principal = {};
};

struct SetLimit {
  std::string ns, key;
  std::optional<int64_t> limit;
  std::optional<double> rate;
  std::optional<int64_t> burst;
  std::string principal = {};
};
struct DropLimit {
  std::string ns, key;
  std::string principal = {};
};

// ---- Providers, pools, and the workers that providers create

struct PutProvider {
  ProviderRow row;
  bool is_new = false;
  std::string principal = {};
};  // is_new: the name must not exist
struct DropProvider {
  std::string name;
  std::string principal = {};
};
struct PutPool {
  PoolRow row;
  std::string principal = {};
};
struct DropPool {
  std::string name;
  std::string principal = {};
};

struct ProviderSeen {  // the result of a health check
  std::string name;
  ProviderFacts facts;
  HealthState health = HealthState::Unknown;
  std::string reason;
};

// Why a worker could not be created. Shape: this provider cannot create one of this shape. Room: it has no room now.
// Trouble: a fault of the provider. Hopeless: no provider could, because something the job needs, such as its image,
// does not exist.
enum class MakingFailure : uint8_t { Shape = 1, Room, Trouble, Hopeless };

struct WorkerMade {
  WorkerId worker;
  std::string handle;
};  // the provider has accepted the request
struct WorkerRuns {
  WorkerId worker;
};  // it runs: the time limit for its registration begins
struct WorkerHeldUp {
  WorkerId worker;
  std::string reason;
};  // why it cannot start yet; empty: it can now
struct WorkerFailed {
  WorkerId worker;
  MakingFailure kind{};
  std::string reason;
};  // it could not be created, or it ended by itself
struct WorkerDestroyed {
  WorkerId worker;
};  // nothing of it is left

// The workers a provider has for this installation. Those the engine does not know are destroyed.
struct Inventory {
  struct One {
    WorkerId worker;
    std::string handle;
  };
  std::string provider;
  std::vector<One> workers;
};

// ---- Scheduler, time

struct ConfigureScheduler {
  std::optional<Strategy> strategy;
  std::optional<double> capacity, load, affinity, zone, history, threshold;
  std::optional<Packing> packing;
  std::optional<bool> preemption;
  std::optional<Duration> reserve_after;
  std::string principal = {};
};

struct Tick {};  // handle what is due
struct Stall {
  Duration length{0};
};  // the loop was blocked: silence during this time does not count

// ---- Questions about memory

struct ExplainJob {
  JobId job{};
};
struct WhyWaiting {
  std::vector<JobId> jobs;
};  // what holds each back, besides the lack of a worker; fast, because lists ask it about all jobs they show
struct PreviewJob {
  ShapePtr shape;
  Namespace ns{};
};  // where such a job would go now
struct DescribeQueue {};
struct DescribeWorkers {
  std::string prefix;
  bool exact = false;
};  // empty: all
struct FindSession {
  Hash128 session;
};  // whose session it is
struct DescribeSystem {};
struct DescribeProviders {
  std::string name;
};  // empty: all
struct DescribePools {};
struct DescribeTenants {
  std::string ns;
};  // empty: all
struct DescribeLimits {
  std::string ns, key;
};  // empty: all

using Question = std::variant<ExplainJob, PreviewJob, DescribeQueue, DescribeWorkers, FindSession, DescribeSystem,
                              DescribeProviders, DescribePools, DescribeTenants, DescribeLimits, WhyWaiting>;

using Command =
    std::variant<Submit, Cancel, Assign, ForgetJobs, PutJobTemplate, DropJobTemplate, PutStoredSecret, DropStoredSecret,
                 RecordAudit, Report, MakeOtp, RegisterWorker, OpenStream, CloseStream, WorkerStops, Heartbeat,
                 DrainWorker, UndrainWorker, TaintWorker, UnregisterWorker, PutProvider, DropProvider, PutPool,
                 DropPool, ProviderSeen, WorkerMade, WorkerRuns, WorkerHeldUp, WorkerFailed, WorkerDestroyed, Inventory,
                 SetTenant, SetLimit, DropLimit, ConfigureScheduler, Tick, Stall, Question>;

}  // namespace hodei::core

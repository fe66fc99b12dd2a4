// What the engine can be asked; answers.h has what it answers. Values that need chance or secrecy (tokens, session ids)
// are made by the caller, so that the engine stays deterministic.
//
// A `principal` is who asked, and from where: what was done is recorded in the audit trail under that name, in the same
// batch. Without one (the server acts by itself) nothing is recorded.
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
  JobHead head;                        // from head_of(); id, times and state are the engine's to set
  std::shared_ptr<SpecRow> spec;       // job number filled in by the engine
  std::optional<Hash128> idempotency;  // over namespace and key
  uint64_t fingerprint = 0;            // of the spec, for its idempotency key; 0: not compared
  bool allow_other_spec = false;       // its idempotency key may name a job with another spec
  int64_t key_limit = 0;               // of its concurrency key; 0: keep what the key has

  // What the store said about the idempotency key before this command was made, for when the engine does not remember
  // all keys: the job that has it, and which jobs (all with lower numbers) were committed when it was asked.
  std::optional<KeyOwner> key_owner = {};
  JobId key_asked_before{};  // 0: it was not asked
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
// Finished ones, with all that is stored of them. Whoever asks has seen that they have ended; one that is live after
// all is left alone, and named in the answer.
struct ForgetJobs {
  struct One {
    JobId job{};
    std::string ns;
  };
  std::vector<One> jobs;
  std::string principal;  // empty: a rule, not a person; not in the audit trail
  std::string reason;
};

// How many one command may name: their rows are deleted in one commit, for which everybody waits.
inline constexpr size_t kMaxForgottenAtOnce = 500;

struct PutJobTemplate {
  TemplateRow row;
  std::string principal = {};
};  // revision and time are the engine's to set
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
};  // revision and time are the engine's
struct DropStoredSecret {
  std::string ns;
  std::string name;
  std::string principal;
};
struct RecordAudit {
  AuditRow row;
};  // number and time are the engine's to set

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

// Interrupted: its worker was stopped, and has ended it or never started it.
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
  std::optional<int64_t> log_bytes;  // nothing: the worker did not say
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
  std::optional<Hash128> otp;      // or
  std::optional<Hash128> session;  // an earlier session
  Hash128 new_session;             // in force when an otp was given
  WorkerInfo info;
  std::string incarnation;
  std::string lineage;  // see Incarnation; empty: none is named
  uint64_t generation = 0;
  std::string principal = {};
  std::vector<std::string> stopped = {};  // see OpenStream
};

struct HeldExecution {
  ExecutionId execution;
  bool started = false;
  bool ended = false;
  bool interrupted = false;  // it ended, or was not started, because its worker was stopped
};

struct OpenStream {
  Hash128 session;
  std::string incarnation;
  uint64_t stream = 0;  // a number the caller never uses twice
  std::vector<HeldExecution> held;
  std::string lineage;
  uint64_t generation = 0;
  bool stopping = false;      // it was told to stop; see WorkerStops
  std::string unfit = {};     // see Heartbeat
  bool lists_active = false;  // its heartbeats list every execution that it has
  // Earlier starts of this worker that were stopped in good order and left nothing behind that runs: what they had and
  // is not in `held` was interrupted.
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
  std::string unfit = {};                // what keeps it from working, in its own words; empty: it is well
  std::vector<ExecutionId> active = {};  // what it has; see OpenStream::lists_active
};

// It was told to stop: it gets nothing new, tells what becomes of what it has, and goes. It may come back.
struct WorkerStops {
  WorkerId worker;
  uint64_t stream = 0;           // 0: it said so while the store was away, and its stream is gone since
  std::string incarnation = {};  // the one that said so; empty: whichever has the stream
};
struct DrainWorker {
  WorkerId worker;
  std::string reason;
  std::string principal = {};
  bool now = false;  // what it has goes back into the queue, and that is no attempt
};
// Take work again.
struct UndrainWorker {
  WorkerId worker;
  std::string principal = {};
};
struct TaintWorker {
  WorkerId worker;
  std::vector<Taint> taints;
  std::string principal = {};
};  // all of them
// By itself: the worker says that it runs nothing any more, so what it had is given to others at once. Otherwise it
// must have nothing.
struct UnregisterWorker {
  WorkerId worker;
  std::string reason;
  bool by_itself = false;
  std::string principal = {};
};

// ---- Tenants and keys. What is not given stays as it is.

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

// ---- Providers, pools, and what becomes of the workers that they make

struct PutProvider {
  ProviderRow row;
  bool is_new = false;
  std::string principal = {};
};  // is_new: refuse a name that is there
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

struct ProviderSeen {  // a check of its health
  std::string name;
  ProviderFacts facts;
  HealthState health = HealthState::Unknown;
  std::string reason;
};

// Why a worker did not come to be. Shape: this provider will not make such a one. Room: not now. Trouble: its own.
// Hopeless: no provider could, because the job asks for something that is not there, such as its image.
enum class MakingFailure : uint8_t { Shape = 1, Room, Trouble, Hopeless };

struct WorkerMade {
  WorkerId worker;
  std::string handle;
};  // the provider took it on
struct WorkerRuns {
  WorkerId worker;
};  // registration is due from now on
struct WorkerHeldUp {
  WorkerId worker;
  std::string reason;
};  // it does not start yet, and why; an empty reason: it does again
struct WorkerFailed {
  WorkerId worker;
  MakingFailure kind{};
  std::string reason;
};  // or it ended by itself
struct WorkerDestroyed {
  WorkerId worker;
};  // nothing of it is left

// What a provider has of this installation. What nobody knows of is destroyed.
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

struct Tick {};  // look at what is due
struct Stall {
  Duration length{0};
};  // the loop was held up: nobody's silence counts for that long

// ---- Questions about memory

struct ExplainJob {
  JobId job{};
};
struct PreviewJob {
  ShapePtr shape;
  Namespace ns{};
};  // where would such a job go now
struct DescribeQueue {};
struct DescribeWorkers {
  std::string prefix;
  bool exact = false;
};  // empty: all
struct FindSession {
  Hash128 session;
};  // whose it is
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
                              DescribeProviders, DescribePools, DescribeTenants, DescribeLimits>;

using Command =
    std::variant<Submit, Cancel, Assign, ForgetJobs, PutJobTemplate, DropJobTemplate, PutStoredSecret, DropStoredSecret,
                 RecordAudit, Report, MakeOtp, RegisterWorker, OpenStream, CloseStream, WorkerStops, Heartbeat,
                 DrainWorker, UndrainWorker, TaintWorker, UnregisterWorker, PutProvider, DropProvider, PutPool,
                 DropPool, ProviderSeen, WorkerMade, WorkerRuns, WorkerHeldUp, WorkerFailed, WorkerDestroyed, Inventory,
                 SetTenant, SetLimit, DropLimit, ConfigureScheduler, Tick, Stall, Question>;

}  // namespace hodei::core

// The engine makes every decision: decide(command, now) → writes, effects, reply. It is deterministic and has no I/O,
// no clock and no threads. The caller commits the writes, and only then carries out the effects and sends the replies.
// If the commit fails, the caller discards this engine and loads a new one.
#pragma once

#include "absl/status/statusor.h"
#include "src/core/commands.h"
#include "src/core/deadlines.h"
#include "src/core/effects.h"
#include "src/core/placement/explain.h"
#include "src/core/placement/reserve.h"
#include "src/core/provision/making.h"
#include "src/core/state.h"
#include "src/core/worker/incarnation.h"

namespace hodei::core {

class Draft;

// The defaults are those of SPEC 2.2.
struct EngineConfig {
  Duration unhealthy_after = 30s;  // without a heartbeat, a worker gets no new work
  Duration lost_after = 45s;       // without a heartbeat, its executions are lost
  Duration otp_life = std::chrono::minutes(5);
  Duration idempotency_life = std::chrono::hours(24);
  Duration idempotency_grace = std::chrono::minutes(10);        // after a start, when the wall clock may be wrong
  Duration forget_worker_after = std::chrono::hours(24);        // of silence, if it has no executions
  Duration forget_stopped_after = std::chrono::hours(30 * 24);  // likewise, if it announced that it stops
  Duration sweep = 1s;
  size_t max_live_jobs = 10'000'000;
  size_t max_job_bytes = size_t{8} << 30;        // memory used by live jobs
  size_t max_judgement_bytes = size_t{1} << 30;  // grows with classes of workers times shapes of jobs
  size_t max_workers = 100'000;
  size_t max_worker_bytes = size_t{1} << 30;  // memory used by workers
  size_t max_templates = 10'000;
  size_t max_secrets = 1'000;  // per namespace
  size_t max_all_secrets = 100'000;
  size_t max_otps = 20'000;  // neither used nor expired
  MemoryLimits memory;
  Duration registration_limit = 60s;                 // for a created worker, from when it runs
  Duration making_limit = std::chrono::minutes(11);  // until it runs; an image may have to be pulled first
  // How long a job waits for a worker that no provider can create, such as one from an image that does not exist. 0:
  // forever.
  Duration unmakable_limit = std::chrono::minutes(5);
  Duration leaving_limit = 30s;  // for a worker that was told to leave and still has output to send
  Duration idle_limit = 10s;     // a created worker without work leaves after this; a pool may have its own limit
  Duration audit_life = std::chrono::hours(365 * 24);
};

// How often expired entries of the audit trail are deleted.
inline constexpr Duration kAuditSweep = std::chrono::hours(1);

class Engine {
 public:
  explicit Engine(EngineConfig config = {}) : config_(config), state_(config.memory) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Loading: restore() every stored write in the store's order, then call restored() once with the current time, from
  // which silence counts. `steady` is the time by which stored things expire; by default, the wall clock's.
  void restore(const Write& write) { state_.fold(write); }
  void restored(Now now, std::optional<WallTime> steady = std::nullopt);

  absl::StatusOr<Reply> decide(const Command& command, Now now, Turn& turn);

  // When a Tick is needed next if no other command arrives.
  MonoTime next_wakeup() const;

  uint64_t digest() const { return state_.digest(); }
  const State& state() const { return state_; }
  // Pending timeouts and ends of backoffs.
  size_t deadlines() const { return timeouts_.size() + due_.size(); }

 private:
  using Answer = absl::StatusOr<Reply>;

  // decide_jobs.cc
  Answer on(const Submit& c, Now now, Turn& turn);
  Answer on(const Cancel& c, Now now, Turn& turn);
  Answer on(const Assign& c, Now now, Turn& turn);
  Answer on(const ForgetJobs& c, Now now, Turn& turn);
  Answer on(const PutJobTemplate& c, Now now, Turn& turn);
  Answer on(const DropJobTemplate& c, Now now, Turn& turn);
  absl::Status check_room(const Submit& c) const;
  absl::Status check_keys(const Submit& c) const;
  absl::Status check_shapes(const Submit& c) const;
  absl::Status check_abilities(const Submit& c) const;
  absl::Status check_fingerprints(const Submit& c) const;
  std::string unknown_place(const Shape& shape) const;  // as text; empty: pool and provider are known
  Submitted::One submit_one(const NewJob& job, JobId& next, Now now, Turn& turn);

  // decide_secrets.cc
  Answer on(const PutStoredSecret& c, Now now, Turn& turn);
  Answer on(const DropStoredSecret& c, Now now, Turn& turn);
  Answer on(const RecordAudit& c, Now now, Turn& turn);
  void record(AuditRow row, Now now, Turn& turn);
  // Records nothing if there is no principal: only what somebody asked for is audited.
  struct Act {
    std::string_view action;
    std::string subject;
    std::string detail = {};
    std::string ns = {};
  };
  void record_act(const std::string& principal, Act act, Now now, Turn& turn);
  void record_delivery(const JobHead& job, const WorkerId& worker, Now now, Turn& turn);
  void sweep_audit(Now now, Turn& turn);

  // decide_reports.cc
  Answer on(const Report& c, Now now, Turn& turn);
  bool on_started(const WorkerId& worker, const StartedReport& r, Now now, Turn& turn);
  bool on_progress(const WorkerId& worker, const ProgressReport& r, Now now, Turn& turn);
  bool on_result(const WorkerId& worker, const ResultReport& r, Now now, Turn& turn);
  void end_execution(const JobHead& job, const ResultReport& r, Now now, Turn& turn);
  void interrupt(const ResultReport& r, const WorkerId& worker, Now now, Turn& turn);
  // `failure`: the failure the worker reported, if any.
  void lose(ExecutionId execution, const std::string& why, Now now, Turn& turn, const std::string& failure = {});
  void send_again_later(Draft& draft, const std::string& why, Now now);
  void retry_if_allowed(Draft& draft, const std::string& reason, Now now);

  // put_back.cc
  Answer on(const TaintWorker& c, Now now, Turn& turn);
  static bool is_ending(const JobHead& job);  // its execution was told to end
  void put_back(const JobHead& job, Requeue kind, const std::string& why, Turn& turn);
  void return_to_queue(Draft& draft, Now now);
  bool count_interruption(Draft& draft, Now now);  // true: it counts as an attempt
  void end_interrupted_too_often(Draft& draft, const std::string& why, Now now);
  void end_put_back(Draft& draft, const ResultReport& r, Now now, Turn& turn);
  void evict(LiveWorker& worker, Turn& turn);
  void interrupt_all(const LiveWorker& worker, const std::string& why, Turn& turn);

  // make_room.cc
  void settle(Now now, Turn& turn);  // uses the room that a decision may have freed
  void check_reservations(Now now, bool thoroughly);
  void sweep_waiting(Now now, Turn& turn);
  bool may_make_room_for(const Lane& lane, Now now);
  bool one_end_makes_room(const LiveWorker& worker, const Amounts& needs) const;
  bool reserve(const Lane& lane, Now now);
  bool preempt(const Lane& lane, Now now, Turn& turn);
  void preempt_waiting(Now now, Turn& turn);

  // decide_workers.cc
  Answer on(const MakeOtp& c, Now now, Turn& turn);
  Answer on(const RegisterWorker& c, Now now, Turn& turn);
  Answer on(const OpenStream& c, Now now, Turn& turn);
  Answer on(const CloseStream& c, Now now, Turn& turn);
  // Returns those of its held executions that were given to it.
  std::vector<ExecutionId> reconcile(LiveWorker& worker, const OpenStream& hello, Now now, Turn& turn);
  absl::Status check_succession(const LiveWorker& worker, const Incarnation& who,
                                const std::vector<std::string>& stopped, bool has_token, Now now) const;
  void drop_stream(LiveWorker& worker, const std::string& why, Turn& turn);
  void set_worker_state(LiveWorker& worker, WorkerEvent event, Turn& turn);
  void seen(LiveWorker& worker, Now now, Turn& turn);
  void forget_one_terminated(Turn& turn);

  // decide_leaving.cc
  Answer on(const DrainWorker& c, Now now, Turn& turn);
  Answer on(const UndrainWorker& c, Now now, Turn& turn);
  Answer on(const UnregisterWorker& c, Now now, Turn& turn);
  void leave_if_drained(LiveWorker& worker, Now now, Turn& turn);
  void start_otps(const WorkerId& worker, Now now, Turn& turn);  // it runs: its token's lifetime begins
  void revoke_otps(const WorkerId& worker, Turn& turn);
  void note_end(LiveWorker& worker, const std::string& reason, Turn& turn);  // the first reason counts
  // The worker has left. Its record stays for a while, with the reason.
  void end_worker(LiveWorker& worker, WorkerEvent event, const std::string& reason, Now now, Turn& turn);
  void give_back_all(LiveWorker& worker, const std::string& reason, Now now, Turn& turn);

  // decide_beats.cc: what workers report about themselves
  Answer on(const Heartbeat& c, Now now, Turn& turn);
  void note_fitness(LiveWorker& worker, const std::string& unfit, Turn& turn);
  void compare_active(LiveWorker& worker, const Heartbeat& beat, Now now, Turn& turn);
  std::vector<std::string> instructions_for(const LiveWorker& worker, const Heartbeat& beat) const;

  // decide_stops.cc: workers that stop, and workers that do not start what they are sent
  Answer on(const WorkerStops& c, Now now, Turn& turn);
  void set_stopped(LiveWorker& worker, bool stopped, Turn& turn);
  // An earlier start of the worker was stopped and had ended this execution, or not started it.
  void hear_of_interruption(LiveWorker& worker, ExecutionId execution, Turn& turn);
  void note_refusal(LiveWorker& worker, Now now);
  void note_start(LiveWorker& worker);
  void end_pause(LiveWorker& worker);
  void end_due_pauses(Now now, Turn& turn);

  // decide_providers.cc
  Answer on(const PutProvider& c, Now now, Turn& turn);
  Answer on(const DropProvider& c, Now now, Turn& turn);
  Answer on(const PutPool& c, Now now, Turn& turn);
  Answer on(const DropPool& c, Now now, Turn& turn);
  Answer on(const ProviderSeen& c, Now now, Turn& turn);
  Answer answer(const DescribeProviders& q, Now now);
  Answer answer(const DescribePools& q, Now now);

  // decide_tenants.cc
  Answer on(const SetTenant& c, Now now, Turn& turn);
  Answer answer(const DescribeTenants& q, Now now);
  absl::Status check_pending(const Submit& c) const;
  // One of its executions has ended, or its quotas were raised: its waiting jobs may now fit on any worker.
  void wake_tenant(const Namespace& ns, Now now, Turn& turn);
  std::string held_by_quota(const Lane& lane) const;  // as text; empty: it is not

  // decide_limits.cc
  Answer on(const SetLimit& c, Now now, Turn& turn);
  Answer on(const DropLimit& c, Now now, Turn& turn);
  Answer answer(const DescribeLimits& q, Now now);
  bool key_is_full(const JobHead& head, Now now);
  std::string held_by_key(const JobHead& head, Now now);  // as text; empty: it is not
  void park(JobId job, Now now);
  void count_start(const JobHead& head, Lane* lane, Now now);
  // Moves jobs back to their lanes if their key has room again; they still have to be placed.
  std::vector<JobId> wake_key(const std::string& ns, const std::string& key, Now now);
  void await_rate(const ConcurrencyKeys::Name& name, KeyState& key, Now now);
  void wake_due_keys(Now now, Turn& turn);

  // decide_making.cc: what providers report about the workers that they create
  Answer on(const WorkerMade& c, Now now, Turn& turn);
  Answer on(const WorkerRuns& c, Now now, Turn& turn);
  Answer on(const WorkerHeldUp& c, Now now, Turn& turn);
  Answer on(const WorkerFailed& c, Now now, Turn& turn);
  Answer on(const WorkerDestroyed& c, Now now, Turn& turn);
  Answer on(const Inventory& c, Now now, Turn& turn);
  void has_come(LiveWorker& worker, Now now, Turn& turn);  // it has registered and opened its stream
  void give_up(LiveWorker& worker, MakingFailure kind, const std::string& reason, Now now, Turn& turn);
  void destroy(LiveWorker& worker, Turn& turn);
  void bury_gone(Now now, Turn& turn);
  void back_off(LiveProvider& provider, MakingFailure kind, const std::string& reason, Now now);
  void refuse(const std::string& provider, const std::string& shape, MakingFailure kind, const std::string& reason,
              Now now);
  void judge_made(const LiveWorker& worker, const std::string& shape, Now now, Turn& turn);
  void note_unfit(const LiveWorker& worker, const std::string& shape, Now now, Turn& turn);
  // Sets the text that people read while the job waits for a worker.
  void note_on_job(JobId job, std::string words, Turn& turn);

  // provision.cc: creates workers for waiting jobs that fit nowhere
  void want(const Lane& lane);
  void provision(Now now, Turn& turn);
  void resume_making(Now now, Turn& turn);
  void make_for(const WaitingShape& shape, Now now, Turn& turn);
  int64_t startable(const Lane& lane, Now now) const;
  LiveProvider* choose_provider(const Shape& shape, Now now);
  // For a job of the namespace or, without a job, for any later one. Empty namespace: it serves all.
  void make_worker(const Shape& shape, LiveProvider& provider, JobId job, const std::string& ns, Now now, Turn& turn);
  const PoolRow* pool_of(const Shape& shape) const;
  bool waits_for_standing_worker(const WaitingShape& shape, Now now) const;
  uint32_t coming_for(const Shape& shape, const std::string& ns) const;  // slots of workers being created
  uint32_t starting(const std::string& provider) const;                  // not counting those that are held up
  bool too_many_held_up(const std::string& provider, const Shape& shape) const;
  uint32_t pool_workers(const std::string& pool) const;
  JobId unclaimed(const std::vector<const Lane*>& lanes) const;
  void explain_providers(const Shape& shape, const Namespace& ns, JobId job, Now now,
                         Explanation& out) const;  // explain_providers.cc
  void explain_making(const Shape& shape, JobId job, Explanation& out) const;

  // withdraw.cc: workers being created that no job waits for any more, and jobs for which no worker can be created
  void sweep_unwanted(Now now, Turn& turn);
  std::vector<LiveWorker*> surplus(Now now) const;
  int64_t waiting_for(const std::string& shape, const std::string& ns, Now now) const;
  bool pool_needs(const Made& made) const;
  void withdraw(LiveWorker& worker, Turn& turn);
  uint32_t held_up(const std::string& provider) const;
  // Withdraws a worker that does not start, to make room for one of this shape. False: there is none.
  bool yield_place(const Shape& shape, Now now, Turn& turn);
  LiveWorker* stuck_in_the_way(const Shape& shape, Now now);
  bool place_is_coming(const std::string& provider) const;
  void fail_unmakable(Now now, Turn& turn);
  bool is_unmakable(const WaitingShape& waiting, Now now) const;

  // scale_down.cc: ends workers that are not needed, and keeps those that pools require
  void sweep_making(Now now, Turn& turn);
  void sweep_deadlines(Now now, Turn& turn);
  void sweep_idle(Now now, Turn& turn);
  void sweep_pools(Now now, Turn& turn);
  bool pool_can_spare(const LiveWorker& worker) const;
  void retire_if_used(LiveWorker& worker, Now now, Turn& turn);
  void left(LiveWorker& worker, Now now, Turn& turn);  // its record is Terminating from now on

  // decide_time.cc
  Answer on(const Tick& c, Now now, Turn& turn);
  Answer on(const Stall& c, Now now, Turn& turn);
  void sweep_workers(Now now, Turn& turn);
  void sweep_timeouts(Now now, Turn& turn);
  void sweep_expired(Now now, Turn& turn);

  // place.cc
  Answer on(const ConfigureScheduler& c, Now now, Turn& turn);
  void place_job(JobId job, Now now, Turn& turn);      // a job that has just begun to wait
  void place_lane(Lane* lane, Now now, Turn& turn);    // the first jobs of a lane, which may be deleted by this
  void fill(LiveWorker& worker, Now now, Turn& turn);  // gives waiting jobs to a worker that has room
  void place_woken(std::vector<JobId> jobs, Now now, Turn& turn);
  void fill_all(Now now, Turn& turn);
  void assign(JobId job, LiveWorker& worker, Decision decision, Now now, Turn& turn);
  void shelve(Draft& draft, Turn& turn);  // moves what happened before the next dispatch out of the head

  // questions.cc
  Answer on(const Question& c, Now now, Turn& turn);
  Answer answer(const ExplainJob& q, Now now);
  Answer answer(const WhyWaiting& q, Now now);
  // A quota, limit or rate that keeps the job from starting, whatever workers there are. Empty words: none.
  struct Hold {
    std::string words;
    std::string_view unblock;
  };
  Hold held_by_limits(const LiveJob& job, Now now);
  Answer answer(const PreviewJob& q, Now now);
  Answer answer(const DescribeQueue& q, Now now);
  Answer answer(const DescribeWorkers& q, Now now);
  Answer answer(const FindSession& q, Now now);
  Answer answer(const DescribeSystem& q, Now now);
  Explanation explain_applicant(const Applicant& job);
  bool is_wanted(const LiveProvider& provider) const;  // jobs or pools need it
  std::string making_room_for(const LaneKey& lane, Now now) const;

  // The wall-clock time at the start plus what the monotonic clock has counted since. Expiry goes by this time.
  WallTime steady_wall(Now now) const { return loaded_.wall + (now.mono - loaded_.mono); }
  void wait_out(const JobHead& job, Now now);
  void await_timeout(const JobHead& job, Now now);
  // Folds a write into the state and adds it to the turn.
  void write(Write w, Turn& turn);
  // Stores a job that changed its state, announces it, and uses the room it may have freed.
  void store(Draft& draft, Now now, Turn& turn);
  const JobHead* current(const WorkerId& worker, ExecutionId execution) const;
  bool was_given(const WorkerId& worker, ExecutionId execution) const;  // as far as memory knows

  EngineConfig config_;
  State state_;
  // Volatile: the worker enforces timeouts first, on its own clock. After a restart they start again from zero, because
  // the wall clock may have been changed: a late timeout is harmless, an early one would end a healthy job.
  Deadlines<ExecutionId> timeouts_;
  // Ends of backoffs, on the monotonic clock.
  Deadlines<JobId> due_;
  // Ends of pauses of workers. Entries of pauses that ended early are skipped.
  std::set<std::pair<MonoTime, WorkerId>> pauses_;
  Making making_;
  Reservations reservations_;
  LaneKey starving_from_;          // where the next scan of waiting lanes begins
  std::vector<WorkerId> touched_;  // changed by this decision: a waiting job may fit there now
  bool preempt_due_ = false;
  // When the buckets of keys with waiting jobs have a token again. Outdated entries are harmless.
  std::set<std::pair<MonoTime, ConcurrencyKeys::Name>> key_timers_;
  MonoTime next_sweep_{0};
  MonoTime next_audit_sweep_{0};
  Now loaded_{};
};

}  // namespace hodei::core

// For the tests of the engine: a bench on which a test controls jobs, workers and time.
//
// After every decision it checks the invariants: an engine loaded from the stored rows has the same digest, no worker
// has more than its capacity or a job that a rule forbids, no quota is exceeded unless it was lowered, and no job waits
// that could run.
#pragma once

#include <map>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/core/engine.h"
#include "src/core/engine_orders.h"
#include "src/core/fleet/incarnation.h"
#include "src/core/watch_harness.h"

namespace hodei {

inline void PrintTo(JobId id, std::ostream* out) { *out << short_id(id); }

namespace core {

inline void PrintTo(JobState s, std::ostream* out) { *out << name(s); }
inline void PrintTo(WorkerState s, std::ostream* out) { *out << name(s); }

// The rows that a store would hold.
class StoredRows {
 public:
  void keep(const Write& write);

  // Rows of types for which there is no member below: those of most modules.
  template <class Row>
  std::map<KeyOf<Row>, Row>& of() {
    return std::get<std::map<KeyOf<Row>, Row>>(others);
  }

  // In the order of store::Store::load, encoding and decoding what the store keeps packed.
  void load(Engine& engine) const;

  using Name = std::pair<std::string, std::string>;
  std::map<JobId, JobPtr> jobs, done;
  std::map<ExecutionId, ArchivedExecution> archived;
  size_t archived_bytes = 0;  // archived so far
  size_t head_bytes = 0;      // written as heads so far
  std::map<WorkerId, WorkerRecordPtr> workers;
  std::map<Hash128, OtpRow> otps;
  std::map<Name, TemplateRow> templates;
  std::map<std::string, ProviderRow> providers;
  std::map<std::string, PoolRow> pools;
  std::map<std::string, TenantRow> tenants;
  std::map<std::string, UserRow> users;
  std::map<std::string, GroupRow> groups;
  std::map<Name, KeyRule> key_rules;
  std::vector<AuditRow> audit;
  std::map<Name, KeyLimitRow> limits;
  std::map<Hash128, IdempotencyRow> idempotency;
  std::optional<SchedulerConfig> scheduler;
  uint64_t next_job = 1;

 private:
  using WithMember = TypeList<WorkerRecord, OtpRow, TemplateRow, ProviderRow, PoolRow, TenantRow, UserRow, GroupRow,
                              KeyRule, AuditRow, KeyLimitRow, IdempotencyRow>;
  template <class Row>
  using IfOther = std::conditional_t<is_in_list<Row, WithMember>, std::tuple<>, std::tuple<std::map<KeyOf<Row>, Row>>>;
  template <class... Row>
  static auto maps_of_others(TypeList<Row...>) -> decltype(std::tuple_cat(std::declval<IfOther<Row>>()...));
  decltype(maps_of_others(AllRows{})) others;
};

class Bench;

// A worker on the bench. Only a handle: the bench holds its data.
class Hand {
 public:
  Hand(Bench& bench, std::string id) : bench_(bench), id_(std::move(id)) {}

  Hand& joins(uint32_t slots = 1) { return joins(a_worker().slots(slots)); }
  Hand& joins(WorkerOrder order);                        // token, registration, stream
  Hand& returns(std::vector<HeldExecution> held = {});   // a new stream with this hello
  Hand& restarts(std::vector<HeldExecution> held = {});  // a new supervisor on the same state folder
  // A new start of its supervisor after a clean shutdown of the previous one. Elsewhere: after a reboot of its machine.
  Hand& restarts_after_a_stop(std::vector<HeldExecution> held = {}, bool elsewhere = false);
  absl::Status appears(const Incarnation& who);  // opens a stream with its session, holding nothing
  Hand& stops();                                 // it was told to stop, and says so
  Hand& closes();                                // its stream ends
  Hand& starts(JobId job);
  Hand& takes(JobId job);  // it must have been sent the job, and starts it
  Hand& finishes(JobId job, Outcome outcome = Outcome::Succeeded);
  Hand& fails(JobId job) { return finishes(job, Outcome::Failed); }
  Hand& goes_silent();  // sends no more heartbeats
  Hand& beats(double cpu_load = 0);
  absl::StatusOr<Reply> reports(Report report);  // on its stream

  WorkerId id() const { return WorkerId(id_); }
  uint64_t stream() const;
  const LiveWorker& live() const;

 private:
  Bench& bench_;
  std::string id_;
};

class Bench {
 public:
  explicit Bench(EngineConfig config = {});
  ~Bench();

  absl::StatusOr<Reply> decide(const Command& command);
  absl::StatusOr<Reply> decide_as(std::string principal, const Command& command);
  // Decides a command that must succeed and returns its answer.
  template <class Answer>
  Answer ask(const Command& command) {
    return ask_as<Answer>("", command);
  }
  template <class Answer>
  Answer ask_as(std::string principal, const Command& command) {
    absl::StatusOr<Reply> reply = decide_as(std::move(principal), command);
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.ok() ? std::get<Answer>(*std::move(reply)) : Answer{};
  }
  absl::Status refused(const Command& command) { return decide(command).status(); }

  JobId submit(const JobOrder& order);
  JobState cancel(JobId job, std::string reason = "");
  Hand worker(std::string id) { return {*this, std::move(id)}; }
  Explanation explain(JobId job);
  QueueReport queue();

  // Advances time: everything that is due happens, and workers that are not silent send heartbeats.
  void advance(Duration by);

  // The server dies and a new one loads what is stored. All streams are closed.
  void restart();

  const JobHead& job(JobId id) const;
  JobState state(JobId id) const { return job(id).state; }
  ExecutionId current(JobId id) const { return job(id).current(); }
  std::string where(JobId id) const { return job(id).worker.str(); }
  std::vector<Transition> history(JobId id) const;  // including what was archived
  int64_t held(const std::string& key, const std::string& ns = "default") const;
  Engine& engine() { return *engine_; }
  // Pending timeouts and ends of backoffs.
  size_t deadlines() const {
    return engine_->timers().size(TimerKind::Timeout) + engine_->timers().size(TimerKind::Backoff);
  }

  // Every effect of one kind so far.
  template <class E>
  std::vector<E> told() const {
    std::vector<E> out;
    for (const Effect& effect : effects) {
      if (const E* one = std::get_if<E>(&effect)) out.push_back(*one);
    }
    return out;
  }

  void check();
  void beat();

  Now now{{1'800'000'000'000'000}, {1'000'000'000}};
  StoredRows rows;
  Turn last;  // what the newest decision produced
  std::vector<Effect> effects;
  bool checks = true;

  // Of the workers.
  std::set<std::string> beating;
  std::map<std::string, uint64_t> streams;
  std::map<std::string, Hash128> sessions;
  uint64_t numbers = 0;

 private:
  void check_running(const JobHead& head, const LiveWorker& worker) const;
  void check_waiting(const LiveJob& live) const;
  Watch watch_;
  const EngineConfig config_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace core
}  // namespace hodei

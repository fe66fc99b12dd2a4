// A job as the engine sees it. Heads are immutable values: a decision creates a new one, and the same pointer goes into
// the committed write and into memory, so the two cannot differ.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/ids.h"
#include "src/base/run_facts.h"
#include "src/base/time.h"
#include "src/core/jobs/owner.h"
#include "src/core/jobs/state.h"
#include "src/core/placement/decision.h"
#include "src/core/placement/shape.h"

namespace hodei::core {

enum class Priority : uint8_t { Low = 1, Normal, High, Critical };
inline constexpr size_t kPriorities = 4;

struct Transition {
  JobState to{};
  JobState from{};  // 0, which is not a state, for the first transition
  WallTime at;
  uint32_t execution = 0;  // 0: none
  std::string reason;

  bool operator==(const Transition&) const = default;
};

// One dispatch of a job to a worker.
struct Execution {
  uint32_t number = 0;
  WorkerId worker;
  std::string provider;
  std::string provider_ref;              // the provider's id of what runs it; empty: no provider created its worker
  JobState state = JobState::Scheduled;  // Pending: lost and requeued
  std::string reason;
  std::string failure;
  WallTime scheduled;
  WallTime started;
  WallTime ended;
  std::optional<int> exit_code;
  int signal = 0;
  std::optional<int64_t> log_bytes;  // how much it printed; absent until its worker has said
  RunFacts facts;
  Decision decision;  // why this worker

  bool operator==(const Execution&) const = default;
};

// What has happened to a job since its submission. Every change writes the whole head, so it holds only the newest
// execution; earlier ones are archived (ArchivedExecution) in rows that are written once. A job has no Past (null)
// until something has happened.
struct Past {
  uint32_t archived_transitions = 0;    // how many are archived
  WallTime archived_until;              // time of the last of them
  std::vector<Transition> transitions;  // since then; without the submission, whose time is `created`
  std::vector<Execution> executions;    // the newest; in a head written by an older version, all of them
  std::string failure;                  // of the last end
  std::string reason;                   // why it is in its state
  std::string cancel_reason;            // or why it is being requeued
  std::string output;
  double progress = -1;
  std::string progress_message;
  std::vector<WorkerId> refused_by;  // workers that did not start it, newest last; see kMaxRefusedBy
  uint32_t interruptions = 0;        // in a row, by workers that were stopped; see kUncountedInterruptions

  bool operator==(const Past&) const = default;
};

// An execution that is no longer the newest, with its transitions. Written once, when the next one is dispatched.
struct ArchivedExecution {
  Execution execution;
  std::vector<Transition> transitions;

  bool operator==(const ArchivedExecution&) const = default;
};

// The most archived executions that are kept per job; older ones are deleted.
inline constexpr uint32_t kMaxArchivedExecutions = 10'000;

inline constexpr double kMaxBackoffFactor = 100;

struct Backoff {
  Duration initial = 1s;
  Duration max = 300s;
  double factor = 2;

  bool operator==(const Backoff&) const = default;
};

// The names of a job's secrets as text: "api_token, db_password".
using SecretNames = std::shared_ptr<const std::string>;

// Why the current execution is being ended although the job is to go on: it will be requeued.
enum class Requeue : uint8_t { No = 0, Evicted, Preempted, Interrupted };

struct JobHead {
  JobId id{};
  Namespace ns;
  JobState state = JobState::Pending;
  Priority priority = Priority::Normal;
  bool allow_retry = true;
  bool cancel_requested = false;
  bool timeout_requested = false;
  Requeue requeue = Requeue::No;
  uint32_t executions = 0;  // dispatches so far; the newest is the current one
  uint32_t attempts = 0;    // executions that started
  uint32_t max_attempts = 1;
  uint32_t lost_dispatches = 0;  // in a row, lost before they started; see dispatch_delay()
  Duration timeout{0};
  Duration grace = 5s;
  Backoff backoff;
  WallTime created;
  WallTime not_before;          // not set: no wait
  std::string concurrency_key;  // empty: none
  WorkerId worker;              // of the current execution, while Scheduled or Running
  ShapePtr shape;
  LabelsPtr labels;     // null: none. Read by the affinity rules of other jobs
  SecretNames secrets;  // null: none. The values are decrypted when the job is sent to a worker
  Owner owner;          // not set: a job of its own
  std::shared_ptr<const Past> past;

  ExecutionId current() const { return {id, executions}; }
};

using JobPtr = std::shared_ptr<const JobHead>;

// Its execution was told to end.
inline bool is_ending(const JobHead& job) {
  return job.cancel_requested || job.timeout_requested || job.requeue != Requeue::No;
}

// How many transitions a job has had, including its submission.
size_t transition_count(const JobHead& job);
// Null if it is archived. Index 0 is the submission, which is not a Transition.
const Transition* find_transition(const JobHead& job, size_t index);
// Null if it is archived or does not exist.
const Execution* find_execution(const JobHead& job, uint32_t number);

// How the packed columns are stored.
std::string encode(const ArchivedExecution& archived);
ArchivedExecution decode_archived(std::string_view bytes);
std::string encode(const Past& past);
std::shared_ptr<const Past> decode_past(std::string_view bytes);

}  // namespace hodei::core

// A job as the engine sees it. Heads are immutable values: a decision makes a new one, and the same pointer goes into
// the write that is committed and into memory, so the two cannot differ.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/ids.h"
#include "src/base/run_facts.h"
#include "src/base/time.h"
#include "src/core/job/state.h"
#include "src/core/placement/decision.h"
#include "src/core/placement/shape.h"

namespace hodei::core {

enum class Priority : uint8_t { Low = 1, Normal, High, Critical };
inline constexpr size_t kPriorities = 4;

struct Transition {
  JobState to{};
  JobState from{};  // not a state (0) for the first
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
  std::string provider_ref;              // the provider's own id of what runs it; empty: nobody made its worker
  JobState state = JobState::Scheduled;  // Pending: lost and requeued
  std::string reason;
  std::string failure;
  WallTime scheduled;
  WallTime started;
  WallTime ended;
  std::optional<int> exit_code;
  int signal = 0;
  std::optional<int64_t> log_bytes;  // how much it printed, once its worker has said
  RunFacts facts;
  Decision decision;  // why this worker

  bool operator==(const Execution&) const = default;
};

// What has happened to a job. Null while nothing but its submission has. A head is written anew with every change, so
// it holds the newest execution only: what came before is on the shelf (ShelvedExecution), in rows that are written
// once.
struct Past {
  uint32_t shelved_transitions = 0;     // those that the shelf holds
  WallTime shelved_until;               // the time of the last of them
  std::vector<Transition> transitions;  // since then; without the very first, which `created` tells
  std::vector<Execution> executions;    // the newest; all of them in a head that an older version wrote
  std::string failure;                  // of the last end
  std::string reason;                   // why it is in its state
  std::string cancel_reason;            // or why it is put back
  std::string output;
  double progress = -1;
  std::string progress_message;
  std::vector<WorkerId> refused_by;  // workers that had it and did not start it, the newest last; see kMaxRefusedBy

  bool operator==(const Past&) const = default;
};

// An execution that another one has followed, with its transitions. Written once, when the next one is dispatched.
struct ShelvedExecution {
  Execution execution;
  std::vector<Transition> transitions;

  bool operator==(const ShelvedExecution&) const = default;
};

// How many shelved executions of one job are kept; older ones go.
inline constexpr uint32_t kMaxShelvedExecutions = 10'000;

inline constexpr double kMaxBackoffFactor = 100;

struct Backoff {
  Duration initial = 1s;
  Duration max = 300s;
  double factor = 2;

  bool operator==(const Backoff&) const = default;
};

// The names of a job's secrets, in words: "api_token, db_password".
using SecretNames = std::shared_ptr<const std::string>;

// Why the current execution is being ended although nobody wants the job's end: it goes back into the queue.
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
  uint32_t attempts = 0;    // of them, those that started
  uint32_t max_attempts = 1;
  uint32_t lost_dispatches = 0;  // in a row, lost before they started; see dispatch_delay()
  Duration timeout{0};
  Duration grace = 5s;
  Backoff backoff;
  WallTime created;
  WallTime not_before;          // not set: at once
  std::string concurrency_key;  // empty: none
  WorkerId worker;              // of the current execution, while Scheduled or Running
  ShapePtr shape;
  LabelsPtr labels;     // null: none. What jobs with rules of company look at
  SecretNames secrets;  // null: none. Their values are opened when it is sent to a worker
  std::shared_ptr<const Past> past;

  ExecutionId current() const { return {id, executions}; }
};

using JobPtr = std::shared_ptr<const JobHead>;

// How many transitions a job has had, its submission counted.
size_t transition_count(const JobHead& job);
// By its index (0 is the submission, which is no Transition). Null: it is on the shelf.
const Transition* find_transition(const JobHead& job, size_t index);
// Null: it is on the shelf, or never was.
const Execution* find_execution(const JobHead& job, uint32_t number);

// Column forms of the packed parts.
std::string encode(const ShelvedExecution& shelved);
ShelvedExecution decode_shelved(std::string_view bytes);
std::string encode(const Past& past);
std::shared_ptr<const Past> decode_past(std::string_view bytes);

}  // namespace hodei::core

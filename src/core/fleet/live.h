// A worker in memory: its stored record, and what is known only from its stream and heartbeats. The volatile part is
// not in the engine's digest.
#pragma once

#include <array>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "src/core/fleet/worker.h"
#include "src/core/placement/lane_key.h"

namespace hodei::core {

struct JobHead;
struct WorkerClass;

struct LiveWorker {
  WorkerRecordPtr record;
  WorkerState state = WorkerState::Connecting;  // the record's, or Busy
  absl::btree_set<ExecutionId> executions;      // dispatched and not proven to have ended
  Amounts used;
  absl::btree_map<ExecutionId, LabelsPtr> job_labels;  // labels of the jobs of its executions, where they have any
  std::array<uint32_t, 5> by_class{};                  // number of executions in each priority class

  // Volatile.
  bool connected = false;
  uint64_t stream = 0;  // number of the open stream
  MonoTime last_seen{0};
  WallTime last_seen_wall;
  bool unhealthy = false;
  std::string unfit;             // what it reports to be wrong; empty: nothing
  MonoTime connecting_since{0};  // when it registered; used until it opens a stream
  bool lists_active = false;     // its heartbeats list all its executions
  // Executions about which its heartbeats and the engine disagree, and since when.
  absl::btree_map<ExecutionId, MonoTime> disputed;
  double cpu_load = 0;
  int64_t memory_used_mb = 0;
  int64_t dropped_logs = 0;
  int64_t succeeded = 0;
  int64_t failed = 0;
  uint32_t refusals = 0;  // rounds in a row in which it started nothing it was sent
  bool paused = false;    // after such a round, until paused_until
  MonoTime paused_until{0};
  std::string end_reason;  // the provider's message when it reported that the worker ended
  double success = 1;      // decaying share of successful executions

  // Set by the roster.
  WorkerClass* kind = nullptr;
  Ordinal ordinal = 0;  // a stable order that does not depend on addresses
  double rank = 0;      // shape-independent part of the score, as last sorted
  bool listed = false;
  uint64_t turn = 0;  // increases with every job it gets; for round-robin
  LaneKey reserved;   // the lane it is reserved for

  const WorkerId& id() const { return record->info.id; }
  // A provider makes it, and it has not opened a stream yet.
  bool is_on_its_way() const { return state == WorkerState::Creating || state == WorkerState::Connecting; }
  bool in_service() const { return takes_work(state) && !record->stopped; }
  bool is_well() const { return !unhealthy && unfit.empty(); }
  bool available() const { return connected && is_well() && !paused && in_service(); }
  // The state shown to people: a worker that stops is Draining.
  WorkerState shown_state() const { return takes_work(state) && record->stopped ? WorkerState::Draining : state; }
  // It announced that it stops, and has left: lists show it as stopped until it comes back.
  bool has_stopped() const { return record->stopped && !connected && !unhealthy && state != WorkerState::Terminated; }
  bool has_slot() const { return executions.size() < record->info.slots; }
  Amounts free() const {
    Amounts left = record->info.capacity;
    left -= used;
    return left;
  }
};

// The current execution of a job is added to the worker, or removed from it.
void occupy_worker(LiveWorker& worker, const JobHead& job);
void free_worker(LiveWorker& worker, const JobHead& job);

}  // namespace hodei::core

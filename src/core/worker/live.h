// A worker in memory: its stored record and what only its stream and heartbeats tell. Nothing volatile here is part of
// the engine's digest.
#pragma once

#include <array>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "src/core/placement/lane_key.h"
#include "src/core/worker/worker.h"

namespace hodei::core {

struct WorkerClass;

struct LiveWorker {
  WorkerRecordPtr record;
  WorkerState state = WorkerState::Connecting;  // the record's, with Busy filled in
  absl::btree_set<ExecutionId> executions;      // dispatched and not proven ended
  Amounts used;
  absl::btree_map<ExecutionId, LabelsPtr> company;  // of those executions whose jobs have labels
  std::array<uint32_t, 5> by_class{};               // executions, by the number of their priority class

  // Volatile.
  bool connected = false;
  uint64_t stream = 0;  // number of the stream that is open
  MonoTime last_seen{0};
  WallTime last_seen_wall;
  bool unhealthy = false;
  std::string unfit;             // its own word for what keeps it from working; empty: it is well
  MonoTime connecting_since{0};  // when it registered; counts until it opens a stream
  bool lists_active = false;     // its heartbeats list all that it has
  // Executions about which its heartbeats and the engine disagree, and since when.
  absl::btree_map<ExecutionId, MonoTime> disputed;
  double cpu_load = 0;
  int64_t memory_used_mb = 0;
  int64_t dropped_logs = 0;
  int64_t succeeded = 0;
  int64_t failed = 0;
  uint32_t refusals = 0;  // rounds of orders in a row that it took without starting anything
  bool paused = false;    // after such a round, until paused_until
  MonoTime paused_until{0};
  std::string end_reason;  // in its provider's words, when that said that it ended
  double success = 1;      // decaying share of executions that went well

  // Kept by the roster.
  WorkerClass* kind = nullptr;
  Ordinal ordinal = 0;  // a stable order that does not depend on addresses
  double rank = 0;      // shape-independent part of the score, as last sorted
  bool listed = false;
  uint64_t turn = 0;  // grows with every job it gets; for round-robin
  LaneKey reserved;   // for whom it is kept free

  const WorkerId& id() const { return record->info.id; }
  bool in_service() const { return takes_work(state) && !record->stopped; }
  bool is_well() const { return !unhealthy && unfit.empty(); }
  bool available() const { return connected && is_well() && !paused && in_service(); }
  // As people see it: one that stops drains.
  WorkerState shown_state() const { return takes_work(state) && record->stopped ? WorkerState::Draining : state; }
  // It said that it stops, and has gone: lists show it as stopped until it comes back.
  bool has_stopped() const { return record->stopped && !connected && !unhealthy && state != WorkerState::Terminated; }
  bool has_slot() const { return executions.size() < record->info.slots; }
  Amounts free() const {
    Amounts left = record->info.capacity;
    left -= used;
    return left;
  }
};

}  // namespace hodei::core

// What supervisor and agent say to each other. Versioned: the two may come from different binaries, because the
// supervisor outlives an upgrade of the agent. Every message is decoded with bounds checked; unknown ones are an error.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "src/worker/core/execution.h"
#include "src/worker/core/keeper.h"
#include "src/worker/core/program.h"
#include "src/worker/limits/live_usage.h"
#include "src/worker/protocol/worker_options.h"

namespace hodei::worker::protocol {

inline constexpr uint32_t kVersion = 5;

// Supervisor → agent. Attach is the first, and brings two descriptors: "output is there", "room was made".
struct HeldRing {
  Held held;
  uint64_t ring = 0;  // 0: it has no output
  std::string notes;
  bool has_input = false;  // it takes a standard input, whose end has not come yet
  int64_t input_at = 0;    // the job has been given all before
};
struct Attach {
  uint32_t version = kVersion;
  std::string incarnation;
  std::string lineage;  // see StateFolder; may be empty
  uint64_t generation = 0;
  std::string session_id;  // of an earlier registration; may be empty
  std::string cgroup;      // what holds all trees of this worker; empty: none
  std::string mark;        // HODEI_WORKER_MARK of all its processes
  WorkerOptions options;
  std::vector<HeldRing> held;
  std::string job_socket;            // where jobs report; empty: nowhere
  std::string job_socket_secret;     // what their keys are made from
  std::vector<std::string> stopped;  // see LastReport
};
struct RingShared {
  uint64_t ring = 0;
};  // brings the ring's descriptor; before its first use
struct Started {
  ExecutionId execution;
  WallTime at;
  int64_t pid = 0;
  uint64_t ring = 0;
};
struct Exited {
  Exit exit;
};
struct Pong {
  uint64_t number = 0;
  uint64_t dropped_lines = 0;
};               // lines: of all executions so far
struct Stop {};  // say so, take no orders, end when nothing is left

// Agent → supervisor.
// The notes are what agents know of an execution besides (execution_notes.h); the supervisor only holds them, for the
// next agent.
struct Start {
  ExecutionId execution;
  Program program;
  std::string notes;
};
struct Kill {
  ExecutionId execution;
  KillReason why = KillReason::Cancelled;
  Duration grace{0};
};
struct ValidUntil {
  MonoTime until;
};
struct Forget {
  ExecutionId execution;
};
struct Ping {
  uint64_t number = 0;
};
struct Registered {
  std::string session_id;
};
struct Left {
  std::string reason;
  bool turned_away = false;
};  // the agent has nothing more to do, ever
struct Keep {
  ExecutionId execution;
  std::string notes;
};                   // instead of the one that Start brought
struct AskUsage {};  // answered by UsageRead, when it has been read
struct UsageRead {
  std::vector<LiveUsage> executions;
};  // supervisor → agent
// A piece of an execution's standard input, agent → supervisor. No more than kInputWindow of it (input_feeder.h) is
// under way before the supervisor has answered with InputTaken.
struct Input {
  ExecutionId execution;
  int64_t offset = 0;
  std::string data;
  bool end = false;     // of the input, behind data
  bool broken = false;  // no more comes, and it is not whole; with `end`: the server refused to send it
};
struct InputTaken {
  ExecutionId execution;
  int64_t offset = 0;   // the job has been given all before
  bool closed = false;  // it has closed its standard input
};                      // supervisor → agent

using Message = std::variant<Attach, RingShared, Started, Exited, Pong, Stop, Start, Kill, ValidUntil, Forget, Ping,
                             Registered, Left, Keep, AskUsage, UsageRead, Input, InputTaken>;

std::string encode(const Message& message);
absl::StatusOr<Message> decode(std::string_view bytes);

// How many descriptors come with it.
size_t descriptors_of(const Message& message);

}  // namespace hodei::worker::protocol

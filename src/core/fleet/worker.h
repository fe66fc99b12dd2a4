// What is stored about a worker: a record that is written when it registers, drains or leaves. live.h has what is kept
// in memory only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "src/base/hash.h"
#include "src/base/ids.h"
#include "src/base/time.h"
#include "src/core/fleet/state.h"
#include "src/core/placement/shape.h"

namespace hodei::core {

// About a worker that a provider created.
struct Made {
  std::string provider;
  std::string pool;      // empty: none
  std::string handle;    // the provider's id for it; empty: not created yet
  uint64_t for_job = 0;  // the job that may use it first; 0: none
  bool one_job = false;  // leaves after its first execution
  WallTime asked;
  std::string ns;  // runs jobs of this namespace only; empty: of all

  bool operator==(const Made&) const = default;
};

struct WorkerInfo {
  WorkerId id;
  std::string name;
  std::string version;
  std::string hostname;
  std::string ip;
  std::string os;
  std::string architecture;
  Amounts capacity;
  uint32_t slots = 1;
  std::vector<std::string> capabilities;  // sorted
  Labels labels;
  std::vector<Taint> taints;
  bool taints_set = false;  // by a person: they stay when it registers again
  std::string provider;     // "manual" if started by hand
  Isolation isolation = Isolation::Process;
  std::string image;
  std::optional<Made> made;  // absent: it was started by hand
  uint32_t lacks = 0;        // abilities it does not have
  WallTime ended;            // set: it has left
  std::string end_reason;    // why it left, or is about to leave

  bool operator==(const WorkerInfo&) const = default;
};

struct WorkerRecord {
  WorkerInfo info;
  WorkerState state = WorkerState::Connecting;  // Busy is never stored; it is derived from the executions
  Hash128 session;                              // of its session id
  Hash128 used_otp;                             // lets the same incarnation repeat Register
  std::string incarnation;                      // of the newest stream; a stored Incarnation
  bool stopped = false;                         // it announced that it stops; it may come back with its session
  WallTime registered;

  // Ended by its own leave, a drain or a removal: its session is gone. One that ended because it never connected keeps
  // its session, and may still come.
  bool has_left_for_good() const { return state == WorkerState::Terminated && session == Hash128{}; }
  bool operator==(const WorkerRecord&) const = default;
};

// Whether it runs jobs of this namespace. A worker that was started by hand runs those of all namespaces.
inline bool serves(const WorkerInfo& worker, std::string_view ns) {
  return !worker.made || worker.made->ns.empty() || worker.made->ns == ns;
}

using WorkerRecordPtr = std::shared_ptr<const WorkerRecord>;

std::string encode(const WorkerInfo& info);
WorkerInfo decode_worker_info(std::string_view bytes);
absl::Status validate(const WorkerInfo& info);
absl::Status check_amounts(std::string_view field, const Amounts& amounts);
absl::Status check_incarnation(std::string_view field, std::string_view incarnation);
// The memory it uses, including its entries in the tables of workers.
size_t bytes_of(const WorkerRecord& record);

// Limits of a worker's info, quoted in error messages and listed in docs/limits.md.
inline constexpr size_t kMaxWorkerInfoBytes = 64 << 10;  // all of it, as stored
inline constexpr size_t kMaxTaints = 64;
inline constexpr size_t kMaxWorkerLabels = 256;
inline constexpr size_t kMaxIncarnation = 200;                // characters
inline constexpr int64_t kMaxAmountMb = int64_t{1} << 40;     // of memory or storage
inline constexpr int64_t kMaxWorkerMilli = int64_t{1} << 40;  // of a core
inline constexpr int64_t kMaxGpus = 1'000'000;
inline constexpr uint32_t kMaxSlots = 100'000;
// Executions a worker may have in addition to those in its slots: ended ones whose results are on their way.
inline constexpr uint32_t kMaxEndedHeld = 4096;

// Checks that a worker can have this many executions. A longer list is refused, because all of it would be
// decided in one turn of the loop.
absl::Status check_held(std::string_view field, size_t count, const WorkerInfo& info);

}  // namespace hodei::core

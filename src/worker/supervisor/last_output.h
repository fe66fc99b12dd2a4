// Output that no server has acknowledged when a supervisor stops: what still lies in the rings of executions that have
// ended. It is masked, kept in the state folder beside the last report, and lies in rings again at the next start.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/ids.h"
#include "src/worker/output/ring.h"

namespace hodei::worker {

// Of all executions of a worker. What finds no room is lost, and its log says so.
inline constexpr size_t kMaxLastOutput = size_t{16} << 20;

struct OutputRecord {
  uint64_t offset = 0;  // in all output of the execution
  WallTime time;
  OutputStream stream = OutputStream::Stdout;
  std::string bytes;

  bool operator==(const OutputRecord&) const = default;
};

using LastOutput = std::map<ExecutionId, std::vector<OutputRecord>>;

// What the ring of an ended execution holds, with its secrets masked; `log_bytes` is how much it printed. Nobody else
// may mask in the ring any more. Takes what it needs from `room`, in bytes, and stops when none is left.
std::vector<OutputRecord> unsent_output(RingMemory& ring, const std::map<std::string, std::string>& secrets,
                                        uint64_t log_bytes, size_t& room);

std::string encode(const LastOutput& output);
std::optional<LastOutput> decode_last_output(std::string_view bytes);  // nothing: the bytes are invalid

// For a ring that is new: how large it must be, and how it is filled.
size_t ring_bytes_for(const std::vector<OutputRecord>& records);
void refill(RingMemory& ring, const std::vector<OutputRecord>& records);

}  // namespace hodei::worker

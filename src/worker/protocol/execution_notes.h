// What agents know of an execution besides what the supervisor needs. It travels with the order to start and comes back
// when a new agent is attached, so that masks, artifacts and reported outputs survive the death of an agent. Only in
// the memory of the two: it holds secrets.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/ids.h"
#include "src/base/time.h"

namespace hodei::worker {

struct ExecutionNotes {
  WallTime prepared;                            // not set: nothing was to be prepared
  std::map<std::string, std::string> secrets;   // names and values: what is masked in the output
  std::string folder;                           // made by the agent, and removed by it
  std::vector<std::string> outputs;             // serialized Artifacts, to be sent after the end
  std::map<std::string, std::string> reported;  // outputs that the job reported
  bool sandboxed = false;                       // file: URLs would reach past its sandbox
  std::string outputs_failed;                   // not empty: they could not be sent, and why

  bool operator==(const ExecutionNotes&) const = default;
};

// Of executions that have some. One map for all parts of an agent: each of them adds what it knows.
using NotesByExecution = std::map<ExecutionId, ExecutionNotes>;

std::string encode(const ExecutionNotes& notes);  // empty when there is nothing to keep
ExecutionNotes decode_notes(std::string_view bytes);

}  // namespace hodei::worker

// The report that a supervisor leaves in its state folder when it stops: it has stopped in good order, nothing of it
// runs any more, and these executions ended without an acknowledgement of a server. The next start sends it. It
// contains no secrets.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/worker/core/execution.h"
#include "src/worker/protocol/execution_notes.h"

namespace hodei::worker {

struct LastReport {
  static constexpr size_t kMaxStopped = 16;  // starts in a row that reached no server; the oldest are forgotten
  static constexpr size_t kMaxBytes = size_t{16} << 20;  // ends that find no room are left out: those run again

  std::vector<std::string> stopped;  // incarnations, the newest last
  std::vector<Exit> exits;
};

std::string encode(const LastReport& report);
std::optional<LastReport> decode_last_report(std::string_view bytes);  // nothing: the bytes are invalid

// How an execution ended, with all that its notes add; what it reported is masked. One whose artifacts have not
// been sent is interrupted: it has to run again.
Exit with_notes(Exit exit, const ExecutionNotes& kept);

}  // namespace hodei::worker

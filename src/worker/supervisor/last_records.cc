#include "src/worker/supervisor/last_records.h"

#include <optional>

#include "src/base/counted.h"
#include "src/worker/supervisor/last_output.h"
#include "src/worker/system/journal.h"

namespace hodei::worker {
namespace {

constexpr const char* kReportFile = "last_words";
constexpr const char* kOutputFile = "last_output";

ExecutionNotes notes_of(ExecutionId execution, const LastRecords::Notes& notes) {
  const auto found = notes.find(execution);
  return found == notes.end() ? ExecutionNotes() : decode_notes(found->second);
}

}  // namespace

void LastRecords::recall(Keeper& keeper, ExecutionRings& rings) {
  const std::string bytes = state_.files().read_bytes(kReportFile);
  if (bytes.empty()) return;
  exist_ = true;
  const std::optional<LastReport> report = decode_last_report(bytes);
  if (!report) return say("the records of the last supervisor cannot be read");
  stopped_ = report->stopped;
  const std::optional<LastOutput> output = decode_last_output(state_.files().read_bytes(kOutputFile));
  for (const Exit& exit : report->exits) {
    keeper.adopt(exit);
    adopted_.insert(exit.execution);
    if (output && output->contains(exit.execution)) rings.adopt(exit.execution, output->at(exit.execution));
  }
  if (!adopted_.empty()) say("still to be reported to a server: ", hodei::counted(adopted_.size(), "result"));
}

void LastRecords::server_welcomed(bool stopping) {
  welcomed_ = true;
  drop_if_told(stopping);
}

void LastRecords::forgotten(ExecutionId execution, bool stopping) {
  if (adopted_.erase(execution) > 0) drop_if_told(stopping);
}

void LastRecords::drop_if_told(bool stopping) {
  if (!exist_ || !welcomed_ || !adopted_.empty() || stopping) return;
  exist_ = false;
  state_.files().drop(kReportFile);
  state_.files().drop(kOutputFile);
}

void LastRecords::leave(const Keeper& keeper, const Notes& notes, ExecutionRings& rings,
                        const std::function<bool()>& end_agent) {
  if (!state_.is_there()) return;
  LastReport report{.stopped = stopped_};
  report.stopped.push_back(state_.incarnation());
  if (report.stopped.size() > LastReport::kMaxStopped) report.stopped.erase(report.stopped.begin());
  for (const Held& held : keeper.inventory()) {
    if (!held.ended) continue;
    const bool has_notes = notes.contains(held.execution);
    report.exits.push_back(has_notes ? with_notes(held.exit, notes_of(held.execution, notes)) : held.exit);
  }
  if (!report.exits.empty()) {
    say("no server has acknowledged the results of ", hodei::counted(report.exits.size(), "execution"),
        "; the next start reports them");
  }
  leave_output(report, notes, rings, end_agent());  // first: whoever finds the report finds it too
  if (absl::Status stored = state_.files().store_bytes(kReportFile, encode(report)); !stored.ok()) {
    say("unreported results are lost: ", std::string(stored.message()));
  }
}

void LastRecords::leave_output(const LastReport& report, const Notes& notes, ExecutionRings& rings,
                               bool agent_is_gone) const {
  LastOutput output;
  size_t room = kMaxLastOutput;
  for (const Exit& exit : report.exits) {
    RingMemory* ring = rings.memory_of(exit.execution);
    if (ring == nullptr) continue;
    const ExecutionNotes known = notes_of(exit.execution, notes);
    // An agent that is about to mask a secret has masked half of it.
    if (!agent_is_gone && !known.secrets.empty()) continue;
    std::vector<OutputRecord> records =
        unsent_output(*ring, known.secrets, static_cast<uint64_t>(exit.log_bytes), room);
    if (!records.empty()) output[exit.execution] = std::move(records);
  }
  if (output.empty()) return state_.files().drop(kOutputFile);
  if (absl::Status stored = state_.files().store_bytes(kOutputFile, encode(output)); !stored.ok()) {
    say("output that was not sent is lost: ", std::string(stored.message()));
    state_.files().drop(kOutputFile);
  }
}

}  // namespace hodei::worker

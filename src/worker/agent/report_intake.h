// Passes on what jobs report on $HODEI_SOCKET: outputs to the runner, which keeps them, and everything to the server.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/worker/agent/execution_masks.h"
#include "src/worker/core/session.h"
#include "src/worker/protocol/execution_notes.h"
#include "src/worker/reports/job_reports.h"
#include "src/worker/reports/job_socket.h"
#include "src/worker/runners/runner.h"

namespace hodei::worker {

class ReportIntake {
 public:
  using Progress = std::pair<ExecutionId, ProgressLine>;

  ReportIntake(const Session& session, const ExecutionMasks& masks, NotesByExecution& notes)
      : session_(session), masks_(masks), notes_(notes) {}

  // None can be opened: said in the journal, and jobs cannot report.
  void open(const std::string& path, const std::string& secret);
  int fd() const { return socket_ ? socket_->fd() : -1; }
  std::map<std::string, std::string> environment_of(ExecutionId execution) const;

  void hear(MonoTime now, bool jobs_speak);
  void keep_outputs(Runner& runner);  // no faster than it listens
  void answer(Runner& runner);
  // `can_tell`: the server hears what is due, from this time on.
  MonoTime next_due(MonoTime now, bool can_tell, MonoTime earliest) const;

  // What the server is to hear, masked.
  std::vector<Progress> take_due(MonoTime now);
  std::optional<ProgressLine> take_last(ExecutionId execution);
  void send_again() { progress_.send_again(); }
  void forget(ExecutionId execution);

 private:
  absl::Status on_report(ExecutionId execution, const ReportLine& report);
  bool may_tell_progress(ExecutionId execution) const;
  bool is_unkept(ExecutionId execution) const;

  const Session& session_;
  const ExecutionMasks& masks_;
  NotesByExecution& notes_;
  std::optional<JobSocket> socket_;  // none: there is no place for one
  std::string program_;              // the file of this program, for jobs
  ProgressBoard progress_;
  std::deque<ExecutionId> unkept_;  // what they reported is not with the runner yet; each is there once
};

}  // namespace hodei::worker

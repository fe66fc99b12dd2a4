#include "src/worker/agent/report_intake.h"

#include <algorithm>

#include "src/base/status.h"
#include "src/worker/system/first_process.h"
#include "src/worker/system/journal.h"

namespace hodei::worker {
namespace {

constexpr Duration kUntilFlushed = 1ms;  // between two tries when the supervisor's socket is full

}  // namespace

void ReportIntake::open(const std::string& path, const std::string& secret) {
  if (path.empty()) return;
  program_ = own_program();
  socket_.emplace(path, secret,
                  [this](ExecutionId execution, const ReportLine& report) { return on_report(execution, report); });
  const absl::Status opened = socket_->open();
  if (opened.ok()) return;
  say("jobs cannot report progress or outputs: ", std::string(opened.message()));
  socket_.reset();
}

std::map<std::string, std::string> ReportIntake::environment_of(ExecutionId execution) const {
  if (!socket_) return {};
  return {{kSocketVariable, socket_->path()},
          {kSocketKeyVariable, socket_->key_of(execution)},
          {kProgramVariable, program_}};
}

void ReportIntake::hear(MonoTime now, bool jobs_speak) {
  if (socket_ && (jobs_speak || now >= socket_->next_deadline())) socket_->look(now);
}

absl::Status ReportIntake::on_report(ExecutionId execution, const ReportLine& report) {
  if (!session_.holds(execution) || session_.has_exited(execution)) {
    return absl::FailedPreconditionError("this execution has ended");
  }
  if (const auto* progress = std::get_if<ProgressLine>(&report)) {
    progress_.note(execution, *progress);  // masked when it is sent: most are replaced before that
  } else if (const auto* output = std::get_if<OutputLine>(&report)) {
    if (masks_.hides(execution, output->key)) return bad_field("output", "its key contains a secret of this job");
    if (absl::Status added = add_output(*output, notes_[execution].reported); !added.ok()) return added;
    if (!is_unkept(execution)) unkept_.push_back(execution);
  }
  return absl::OkStatus();
}

// One at a time: however much jobs report, no more than one copy waits here.
void ReportIntake::keep_outputs(Runner& runner) {
  for (size_t n = unkept_.size(); n > 0 && runner.flush(); --n) {
    runner.keep_notes(unkept_.front());
    unkept_.pop_front();
    runner.flush();
  }
}

// A job hears `ok` when what it said would survive us.
void ReportIntake::answer(Runner& runner) {
  if (!socket_ || !socket_->has_answers() || !runner.flush()) return;
  socket_->answer([this](ExecutionId id) { return !is_unkept(id); });
}

bool ReportIntake::is_unkept(ExecutionId execution) const {
  return std::find(unkept_.begin(), unkept_.end(), execution) != unkept_.end();
}

bool ReportIntake::may_tell_progress(ExecutionId execution) const {
  return !masks_.is_awaited(execution) && session_.has_started(execution) && !session_.has_exited(execution);
}

MonoTime ReportIntake::next_due(MonoTime now, bool can_tell, MonoTime earliest) const {
  if (!socket_) return kNever;
  MonoTime next = socket_->next_deadline();
  if (socket_->has_answers() || !unkept_.empty()) next = std::min(next, now + kUntilFlushed);
  if (!can_tell) return next;
  const MonoTime due = progress_.next_due([this](ExecutionId id) { return may_tell_progress(id); });
  return std::min(next, std::max(due, earliest));
}

std::vector<ReportIntake::Progress> ReportIntake::take_due(MonoTime now) {
  std::vector<Progress> due = progress_.take_due(now, [this](ExecutionId id) { return may_tell_progress(id); });
  for (auto& [execution, progress] : due) progress = masks_.masked(execution, progress);
  return due;
}

std::optional<ProgressLine> ReportIntake::take_last(ExecutionId execution) {
  std::optional<ProgressLine> last = progress_.take_last(execution);
  if (last) last = masks_.masked(execution, *last);
  return last;
}

void ReportIntake::forget(ExecutionId execution) {
  std::erase(unkept_, execution);
  progress_.forget(execution);
  if (socket_) socket_->close_all_of(execution);
}

}  // namespace hodei::worker

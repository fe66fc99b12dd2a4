// The agent's side of jobs that report: what they say on $HODEI_SOCKET, on its way to the supervisor and the server.
#include <sys/epoll.h>

#include <algorithm>

#include "src/base/status.h"
#include "src/worker/agent.h"
#include "src/worker/first_process.h"
#include "src/worker/journal.h"
#include "src/worker/stream_messages.h"

namespace hodei::worker {
namespace {

constexpr Duration kUntilFlushed = 1ms;  // between two tries when the supervisor's socket is full

}  // namespace

void Agent::open_job_socket() {
  if (attach_->job_socket.empty()) return;
  program_ = own_program();
  job_socket_.emplace(attach_->job_socket, attach_->job_socket_secret,
                      [this](ExecutionId execution, const ReportLine& report) { return on_report(execution, report); });
  const absl::Status opened = job_socket_->open();
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kJobs;
  if (opened.ok() && epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, job_socket_->fd(), &event) == 0) return;
  say("jobs cannot report progress or outputs: ", std::string(opened.message()));
  job_socket_.reset();
}

std::map<std::string, std::string> Agent::socket_environment(ExecutionId execution) const {
  if (!job_socket_) return {};
  return {{kSocketVariable, job_socket_->path()},
          {kSocketKeyVariable, job_socket_->key_of(execution)},
          {kProgramVariable, program_}};
}

void Agent::hear_jobs(MonoTime now) {
  if (!job_socket_ || (!jobs_speak_ && now < job_socket_->next_deadline())) return;
  jobs_speak_ = false;
  job_socket_->look(now);
}

absl::Status Agent::on_report(ExecutionId execution, const ReportLine& report) {
  if (!session_.holds(execution) || session_.has_exited(execution)) {
    return absl::FailedPreconditionError("this execution has ended");
  }
  if (const auto* progress = std::get_if<ProgressLine>(&report)) {
    progress_.note(execution, *progress);  // masked when it is sent: most are replaced before that
  } else if (const auto* output = std::get_if<OutputLine>(&report)) {
    if (holds_secret(execution, output->key)) return bad_field("output", "its key contains a secret of this job");
    if (absl::Status added = add_output(*output, kept_[execution].reported); !added.ok()) return added;
    if (std::find(unkept_.begin(), unkept_.end(), execution) == unkept_.end()) unkept_.push_back(execution);
  }
  return absl::OkStatus();
}

// One at a time: however much jobs report, no more than one copy waits here.
void Agent::keep_outputs() {
  for (size_t n = unkept_.size(); n > 0 && !supervisor_.wants_to_write(); --n) {
    const ExecutionId execution = unkept_.front();
    unkept_.pop_front();
    supervisor_.put(protocol::Keep{execution, encode(kept_[execution])});
    supervisor_.flush().IgnoreError();
  }
}

// A job hears `ok` when what it said would survive us.
void Agent::answer_jobs() {
  if (!job_socket_ || !job_socket_->has_answers() || supervisor_.wants_to_write()) return;
  job_socket_->answer(
      [this](ExecutionId id) { return std::find(unkept_.begin(), unkept_.end(), id) == unkept_.end(); });
}

bool Agent::may_report_progress(ExecutionId execution) const {
  const auto kept = kept_.find(execution);
  const bool can_be_masked = kept == kept_.end() || kept->second.secrets.empty() || masks_.contains(execution);
  return can_be_masked && session_.has_started(execution) && !session_.has_exited(execution);
}

MonoTime Agent::next_report_due(MonoTime earliest) const {
  MonoTime next = job_socket_->next_deadline();
  if (job_socket_->has_answers() || !unkept_.empty()) next = std::min(next, clock_.now().mono + kUntilFlushed);
  if (!link_.can_write() || !session_.online()) return next;
  const MonoTime due = progress_.next_due([this](ExecutionId id) { return may_report_progress(id); });
  return std::min(next, std::max(due, earliest));
}

void Agent::put_due_progress(Now now) {
  for (const auto& [execution, progress] :
       progress_.take_due(now.mono, [this](ExecutionId id) { return may_report_progress(id); })) {
    put_progress_of(execution, progress);
  }
}

void Agent::put_progress_of(ExecutionId execution, const ProgressLine& progress) {
  const auto mask = masks_.find(execution);
  if (mask == masks_.end() || mask->second == nullptr) {
    put_progress(execution, progress, outgoing_);
  } else {
    const TextEnd end = progress.is_cut ? TextEnd::Cut : TextEnd::Whole;
    put_progress(execution, {progress.percent, masked(progress.message, *mask->second, end)}, outgoing_);
  }
  has_outgoing_ = true;
}

}  // namespace hodei::worker

// The agent's side of jobs that report: what they say on $HODEI_SOCKET, on its way to the supervisor and the server.
#include <sys/epoll.h>

#include "src/worker/agent.h"
#include "src/worker/first_process.h"
#include "src/worker/journal.h"
#include "src/worker/secret_forms.h"
#include "src/worker/stream_messages.h"

namespace hodei::worker {
namespace {

constexpr Duration kUntilFlushed = 1ms;   // between two tries when the supervisor's socket is full

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
  say("jobs cannot report progress and outputs: ", std::string(opened.message()));
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
    const auto kept = kept_.find(execution);
    const auto mask = kept == kept_.end() ? nullptr : mask_for(kept->second.secrets);
    progress_.note(execution, {progress->percent, mask ? masked(progress->message, *mask) : progress->message});
  } else if (const auto* output = std::get_if<OutputLine>(&report)) {
    Keepsake keepsake = kept_[execution];
    if (absl::Status added = add_output(*output, keepsake.reported); !added.ok()) return added;
    supervisor_.put(protocol::Keep{execution, encode(keepsake)});
    kept_[execution] = std::move(keepsake);
  }
  return absl::OkStatus();
}

bool Agent::may_report_progress(ExecutionId execution) const {
  return session_.has_started(execution) && !session_.has_exited(execution);
}

MonoTime Agent::next_report_due(MonoTime earliest) const {
  MonoTime next = job_socket_->next_deadline();
  if (job_socket_->has_answers()) next = std::min(next, clock_.now().mono + kUntilFlushed);
  if (!link_.can_write() || !session_.online()) return next;
  const MonoTime due = progress_.next_due([this](ExecutionId id) { return may_report_progress(id); });
  return std::min(next, std::max(due, earliest));
}

void Agent::put_due_progress(Now now) {
  for (const auto& [execution, progress] :
       progress_.take_due(now.mono, [this](ExecutionId id) { return may_report_progress(id); })) {
    put_progress(execution, progress, outgoing_);
    has_outgoing_ = true;
  }
}

}  // namespace hodei::worker

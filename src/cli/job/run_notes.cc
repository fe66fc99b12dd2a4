#include "src/cli/job/run_notes.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "src/base/printable.h"
#include "src/base/text.h"
#include "src/cli/job/job_view.h"
#include "src/cli/terminal/exit_code.h"

namespace hodei::cli {
namespace {

constexpr Duration kLongestPatience = 30s;

// False: it was stopped meanwhile.
bool wait_unless_stopped(const std::stop_token& stop, Duration time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace

std::string waiting_note(const std::string& job_id, const v1::SchedulingDecision& decision, bool on_terminal) {
  const std::string why = waiting_text(decision);
  const std::string note = cat("job ", job_id, " is waiting", why.empty() ? "" : ": ", why);
  if (!on_terminal) return note;
  return cat(note, " (`hodei job explain ", job_id, "` for details; Ctrl-C cancels it)");
}

RunNotes::RunNotes(Client& client, std::string job_id, bool on_terminal, std::function<void(const std::string&)> note,
                   Duration patience)
    : client_(client),
      job_id_(std::move(job_id)),
      on_terminal_(on_terminal),
      note_(std::move(note)),
      patience_(patience) {}

RunNotes::~RunNotes() = default;  // stops and joins the thread

void RunNotes::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    Duration patience = patience_;
    while (wait_unless_stopped(stop, patience)) {
      Next next = look(stop);
      if (next == Next::Watch) next = watch(stop);
      if (next == Next::Over) return;
      patience = next == Next::LookSoon ? patience_ : std::min<Duration>(patience * 2, kLongestPatience);
    }
  });
}

RunNotes::Next RunNotes::look(const std::stop_token& stop) {
  const absl::StatusOr<v1::Job> job = client_.get_job(job_id_);
  // The follower of the output reports a server that does not answer.
  if (!job.ok()) return Client::is_break(job.status()) ? Next::LookSoon : Next::Over;
  if (has_ended(job->state())) return Next::Over;
  if (job->state() != v1::Job::Pending) return Next::Watch;
  for (const v1::Transition& transition : job->history()) tell(transition);
  const absl::StatusOr<v1::SchedulingDecision> decision = client_.scheduling_decision(job_id_);
  if (!decision.ok() || decision->placed() || stop.stop_requested()) return Next::LookLater;
  std::string note = waiting_note(job_id_, *decision, on_terminal_);
  if (note == told_) return Next::LookLater;
  note_(note);
  told_ = std::move(note);
  return Next::LookLater;
}

// The stream begins with the history, so earlier transitions are printed too.
RunNotes::Next RunNotes::watch(const std::stop_token& stop) {
  v1::ExecutionEventStreamRequest request;
  request.set_job_id(job_id_);
  bool is_over = false;
  const absl::Status status = client_.follow_events(
      request,
      [&](const v1::ExecutionEvent& event) {
        is_over = event.final();
        const bool waits_again = event.has_transition() && tell(event.transition());
        if (event.has_progress() && on_terminal_) {
          note_(cat(job_id_, fmt::format(" {:.0f} % ", event.progress().percentage()),
                    printable(event.progress().message())));
        }
        return !is_over && !waits_again;
      },
      stop);
  return is_over || (!status.ok() && !Client::is_break(status)) ? Next::Over : Next::LookSoon;
}

// Its output so far stays on the screen, and all of it may be printed again: a note says why.
bool RunNotes::tell(const v1::Transition& transition) {
  const bool begins_again = transition.from() == v1::Job::Running && transition.to() == v1::Job::Pending;
  if (!begins_again || !told_requeues_.insert(transition.execution_id()).second) return false;
  note_(cat("job ", job_id_, " is queued again and will start from the beginning: ", printable(transition.reason())));
  told_.clear();
  return true;
}

}  // namespace hodei::cli

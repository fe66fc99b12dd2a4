#include "src/cli/run_notes.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "src/base/printable.h"
#include "src/base/text.h"
#include "src/cli/job_view.h"

namespace hodei::cli {
namespace {

// A job that has a worker by then is not worth a word. Later looks come less and less often.
constexpr Duration kPatience = 2s;
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

RunNotes::RunNotes(Client& client, std::string job_id, bool on_terminal, std::function<void(const std::string&)> note)
    : client_(client), job_id_(std::move(job_id)), on_terminal_(on_terminal), note_(std::move(note)) {}

RunNotes::~RunNotes() = default;  // stops and joins the thread

void RunNotes::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    say_why_it_waits(stop);
    if (on_terminal_ && !stop.stop_requested()) say_progress(stop);
  });
}

void RunNotes::say_why_it_waits(const std::stop_token& stop) {
  std::string told;
  for (Duration patience = kPatience; wait_unless_stopped(stop, patience);
       patience = std::min<Duration>(patience * 2, kLongestPatience)) {
    const absl::StatusOr<v1::Job> job = client_.get_job(job_id_);
    // Whether the server is away is told by whoever follows the output.
    if (!job.ok() && Client::is_break(job.status())) continue;
    if (!job.ok() || job->state() != v1::Job::Pending) return;
    const absl::StatusOr<v1::SchedulingDecision> decision = client_.scheduling_decision(job_id_);
    if (!decision.ok() || decision->placed() || stop.stop_requested()) continue;
    std::string note = waiting_note(job_id_, *decision, on_terminal_);
    if (note == told) continue;
    note_(note);
    told = std::move(note);
  }
}

// One stream, not renewed: progress is a courtesy.
void RunNotes::say_progress(const std::stop_token& stop) {
  v1::ExecutionEventStreamRequest request;
  request.set_job_id(job_id_);
  client_
      .follow_events(
          request,
          [this](const v1::ExecutionEvent& event) {
            if (event.has_progress()) {
              note_(cat(job_id_, fmt::format(" {:.0f} % ", event.progress().percentage()),
                        printable(event.progress().message())));
            }
            return !event.final();
          },
          stop)
      .IgnoreError();
}

}  // namespace hodei::cli

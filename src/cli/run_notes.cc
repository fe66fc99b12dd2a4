#include "src/cli/run_notes.h"

#include <condition_variable>
#include <mutex>

#include "src/base/printable.h"
#include "src/base/text.h"

namespace hodei::cli {
namespace {

constexpr Duration kPatience = 2s;

// "provisioning: provider docker makes worker docker-1" → "a docker worker is being made"; empty: it waits for
// something else.
std::string what_is_made(const std::string& reason) {
  constexpr std::string_view kSign = "provisioning: provider ";
  if (!reason.starts_with(kSign))
    return reason.starts_with("provisioning") ? std::string("a worker is being made") : std::string();
  const std::string provider = reason.substr(kSign.size(), reason.find(' ', kSign.size()) - kSign.size());
  // Behind the worker's name comes what holds it up, in the provider's words.
  const size_t held_up = reason.find(": ", kSign.size());
  return cat("a ", provider, " worker is being made",
             held_up == std::string::npos ? "" : printable(reason.substr(held_up)));
}

}  // namespace

std::string waiting_note(const std::string& job_id, const std::string& reason) {
  if (const std::string made = what_is_made(reason); !made.empty()) return cat("waiting: ", made);
  return cat(job_id, " is waiting", reason.empty() ? "" : ": ", printable(reason), " (`hodei job explain ", job_id,
             "` says more; Ctrl-C cancels it)");
}

RunNotes::RunNotes(Client& client, std::string job_id, std::function<void(const std::string&)> note)
    : client_(client), job_id_(std::move(job_id)), note_(std::move(note)) {}

RunNotes::~RunNotes() = default;  // stops and joins the thread

void RunNotes::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, kPatience, [] { return false; });
    if (!stop.stop_requested()) say_why_it_waits();
    if (!stop.stop_requested()) say_progress(stop);
  });
}

void RunNotes::say_why_it_waits() {
  const absl::StatusOr<v1::Job> job = client_.get_job(job_id_);
  if (!job.ok() || job->state() != v1::Job::Pending) return;
  note_(waiting_note(job_id_, job->reason()));
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

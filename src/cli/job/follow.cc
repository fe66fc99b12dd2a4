#include "src/cli/job/follow.h"

#include <utility>

#include "src/base/counted.h"
#include "src/base/status.h"
#include "src/cli/terminal/exit_code.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli {
namespace {

// A log that stays shorter than the job says (it expired, or its worker was lost) is asked for this often, not more.
constexpr int kMostEmptyRounds = 2;

// A shorter absence of the server is not reported.
constexpr Duration kWorthTelling = 1s;

int32_t newest_execution(const v1::Job& job) {
  int32_t newest = 0;
  for (const v1::Execution& execution : job.executions()) newest = std::max(newest, execution.number());
  return newest;
}

// Does the job say that there is more output than was read?
bool has_unread_output(const v1::Job& job, const LogCursor& cursor) {
  for (const v1::Execution& execution : job.executions()) {
    if (execution.number() > cursor.execution() && execution.log_bytes() > 0) return true;
    const bool here = execution.number() == cursor.execution() && cursor.inside_execution();
    if (here && execution.log_bytes() > cursor.offset()) return true;
  }
  return false;
}

bool has_unread_rest(const v1::Job& job, const LogCursor& cursor) {
  for (const v1::Execution& execution : job.executions()) {
    if (execution.number() == cursor.execution()) return execution.log_bytes() > cursor.offset();
  }
  return false;
}

}  // namespace

std::string gap_note(const v1::LogGap& gap) {
  const bool is_expired = gap.reason() == "expired";
  const std::string much =
      gap.bytes() > 0 ? cat(counted(gap.bytes(), "byte"), " of output ") : std::string("some of the output ");
  if (is_expired)
    return cat(much, "expired: the server keeps output for a limited time (log_retention_age, log_retention_size)");
  if (gap.reason() == "cleared") return "the output of this job has been deleted";
  return cat(much, gap.bytes() > 1 ? "are" : "is", " missing here (", gap.reason(), ")");
}

Follower::Follower(Client& client, FollowOptions options)
    : client_(client), options_(std::move(options)), cursor_(options_.from.value_or(LogCursor(options_.job_id))) {
  cursor_.keep_to(options_.execution);
}

absl::StatusOr<v1::Job> Follower::follow() {
  for (int empty_rounds = 0;;) {
    const bool resumed = cursor_.inside_execution();
    const int64_t before = cursor_.offset();
    if (absl::Status broken = read_logs(); !broken.ok()) {
      RETURN_IF_ERROR(after_break(broken));
      // A quiet job would say nothing for a long time after the server is back.
      if (told_away_) RETURN_IF_ERROR(job_now().status());
      continue;
    }
    if (stopped_) return absl::CancelledError("the output is no longer wanted");
    if (fell_behind_) continue;                                    // from where we stand: it is all in the store
    if (options_.execution != 0 || is_deleted_) return job_now();  // nothing more of it will come
    ASSIGN_OR_RETURN(const v1::Job job, job_with_news());
    if (cursor_.offset() == before) ++empty_rounds;
    const bool all_read = !has_unread_output(job, cursor_) || empty_rounds >= kMostEmptyRounds;
    if (has_ended(job.state()) && all_read) return job;
    // A resumed stream shows only the execution that it was in; what came after it is asked for next.
    if (resumed && (!has_unread_rest(job, cursor_) || empty_rounds > 0)) cursor_.leave_execution();
  }
}

absl::Status Follower::read_logs() {
  fell_behind_ = false;
  const auto on_gap = [this](const v1::LogGap& gap) {
    is_deleted_ = is_deleted_ || gap.reason() == "cleared";
    options_.on_gap ? options_.on_gap(gap, cursor_) : options_.on_note(gap_note(gap));
  };
  return client_.subscribe_logs(cursor_.request(), [&](const v1::LogChunk& chunk) {
    connected();
    fell_behind_ = cursor_.skipped_ahead(chunk);
    if (!fell_behind_) {
      cursor_.take(chunk, options_.on_piece, on_gap);
      stopped_ = !options_.on_pause();
    }
    return !fell_behind_ && !stopped_;
  });
}

// The log is at its end a moment before the job is (its result is still being recorded), or the job waits for its next
// attempt: the next transition says which.
absl::StatusOr<v1::Job> Follower::job_with_news() {
  while (true) {
    ASSIGN_OR_RETURN(v1::Job job, job_now());
    if (has_ended(job.state()) || newest_execution(job) > cursor_.execution()) return job;
    RETURN_IF_ERROR(wait_for_change(job));
  }
}

absl::Status Follower::wait_for_change(const v1::Job& job) {
  v1::ExecutionEventStreamRequest request;
  request.set_job_id(options_.job_id);
  const int known = job.history_size();
  int seen = 0;
  const absl::Status status = client_.follow_events(request, [&](const v1::ExecutionEvent& event) {
    connected();
    seen += event.has_transition();
    return !event.final() && seen <= known;
  });
  return status.ok() ? absl::OkStatus() : after_break(status);
}

absl::StatusOr<v1::Job> Follower::job_now() {
  while (true) {
    absl::StatusOr<v1::Job> job = client_.get_job(options_.job_id);
    if (job.ok()) {
      connected();
      return job;
    }
    // A server that takes a call and never answers is as good as away.
    const bool silent = absl::IsDeadlineExceeded(job.status());
    RETURN_IF_ERROR(after_break(silent ? absl::UnavailableError(job.status().message()) : job.status()));
  }
}

void Follower::connected() {
  if (std::exchange(told_away_, false)) {
    options_.on_note(cat("the server is back after ", human_duration(options_.clock->now().mono - away_since_)));
  }
  away_since_ = MonoTime{};
  back_off_.reset();
}

// Waits a little before the next try; gives the error back when it is no break or when the server stays away.
absl::Status Follower::after_break(const absl::Status& broken) {
  if (!Client::is_break(broken)) return broken;
  // A quiet subscription simply reached its deadline.
  if (absl::IsDeadlineExceeded(broken) && !away_since_.is_set()) return absl::OkStatus();
  const MonoTime now = options_.clock->now().mono;
  if (!away_since_.is_set()) {
    away_since_ = now;
  } else if (now - away_since_ >= kWorthTelling && !std::exchange(told_away_, true)) {
    options_.on_note(cat("the server at ", client_.addresses(), " is away; job ", options_.job_id,
                         " is not lost, and its output follows once the server is back (waiting up to ",
                         human_duration(options_.reconnect_for), ")"));
  } else if (now - away_since_ > options_.reconnect_for) {
    return absl::UnavailableError(cat("the server at ", client_.addresses(), " has been away for ",
                                      human_duration(now - away_since_), "; job ", options_.job_id,
                                      " is not lost\nfollow it with `hodei job logs --follow ", options_.job_id,
                                      "` once the server is back"));
  }
  if (!options_.pause(back_off_.next())) return broken;
  return absl::OkStatus();
}

}  // namespace hodei::cli

#include "src/cli/job/job_logs.h"

#include <CLI/CLI.hpp>
#include <deque>

#include "src/base/status.h"
#include "src/cli/job/follow.h"
#include "src/cli/job/job_lookup.h"
#include "src/cli/job/log_json.h"
#include "src/cli/job/log_text.h"
#include "src/cli/session/session.h"
#include "src/cli/terminal/exit_code.h"
#include "src/cli/terminal/stream_writer.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli {
namespace {

// Output in the form asked for, of which a tail keeps only the last lines.
class LogPrinter {
 public:
  LogPrinter(const Session& session, const LogRequest& request)
      : session_(session),
        form_(session.form()),
        request_(request),
        writer_(session.io),
        text_(request, {session.io.out_is_terminal, session.io.err_is_terminal},
              [this](bool is_stderr, std::string bytes) {
                add({is_stderr, std::move(bytes)});
              }) {}

  void keep_last(size_t lines) { tail_ = lines; }
  void take(const LogCursor::Piece& piece) {
    const v1::LogEntry& entry = piece.entry;
    if (form_ == OutputForm::Table || form_ == OutputForm::Wide) {
      mark_execution(entry.execution());
      return text_.take(entry, piece.bytes);
    }
    if (!(entry.is_stderr() ? request_.with_stderr : request_.with_stdout)) return;
    if (request_.pattern != nullptr && !contains(*request_.pattern, entry.line())) return;
    if (form_ != OutputForm::Name) return add_data(log_entry_json(piece));
    if (std::exchange(named_, entry.execution()) != entry.execution()) {
      add({false, cat(request_.id, ".", entry.execution(), "\n")});
    }
  }
  void take_gap(const v1::LogGap& gap, const LogCursor& at) {
    text_.finish();
    flush();
    if (form_ == OutputForm::Json || form_ == OutputForm::Yaml) return add_data(log_gap_json(gap, at));
    session_.note(gap_note(gap));
  }
  void flush() { writer_.flush(); }
  // What the tail kept; from now on everything is shown.
  void show_kept() {
    text_.finish();
    tail_ = 0;
    for (Line& line : std::exchange(kept_, {})) add(std::move(line));
    flush();
  }
  void finish() {
    text_.finish();
    show_kept();
  }
  bool failed() const { return writer_.failed(); }

 private:
  struct Line {
    bool is_stderr = false;
    std::string bytes;
  };
  // Where the output of one execution ends and that of the next one begins.
  void mark_execution(int32_t execution) {
    const int32_t before = std::exchange(named_, execution);
    if (before < 0 || before == execution || tail_ > 0) return;
    text_.finish();
    flush();
    session_.note(cat("execution ", request_.id, ".", execution, ":"));
  }
  // A line of JSON is an item of a list in YAML, too.
  void add_data(const std::string& json) { add({false, form_ == OutputForm::Yaml ? "- " + json : json}); }
  void add(Line line) {
    if (tail_ == 0) return writer_.add(line.is_stderr, line.bytes);
    kept_.push_back(std::move(line));
    if (kept_.size() > tail_) kept_.pop_front();
  }

  const Session& session_;
  const OutputForm form_;
  const LogRequest& request_;
  int32_t named_ = -1;  // the execution that was named last; -1: none
  size_t tail_ = 0;
  std::deque<Line> kept_;
  StreamWriter writer_;
  LogText text_;
};

// Reads what is there now, through breaks. `later_too`: also the executions behind the one in which it broke.
absl::Status read_what_is_there(Session& session, LogCursor& cursor, bool later_too, LogPrinter& printer) {
  BackOff back_off;
  const MonoTime give_up = session.io.clock->now().mono + session.settings.duration("retry_for");
  while (true) {
    v1::SubscribeLogsRequest request = cursor.request();
    const bool resumed = cursor.inside_execution();
    request.set_no_follow(true);
    const absl::Status status = session.client().subscribe_logs(request, [&](const v1::LogChunk& chunk) {
      cursor.take(
          chunk, [&](const LogCursor::Piece& piece) { printer.take(piece); },
          [&](const v1::LogGap& gap) { printer.take_gap(gap, cursor); });
      printer.flush();
      return !printer.failed();
    });
    if (status.ok() && (printer.failed() || !(resumed && later_too))) return status;
    if (status.ok()) {
      cursor.leave_execution();
      continue;
    }
    if (!Client::is_break(status)) return status;
    if (session.io.clock->now().mono >= give_up || !session.io.pause(back_off.next())) {
      return session.client().explain(status);
    }
  }
}

absl::Status follow(Session& session, const LogRequest& request, LogCursor cursor, LogPrinter& printer) {
  FollowOptions options;
  options.job_id = request.id;
  options.execution = request.execution;
  options.from = std::move(cursor);
  options.reconnect_for = session.settings.duration("reconnect_for");
  options.clock = session.io.clock;
  options.pause = session.io.pause;
  options.on_piece = [&](const LogCursor::Piece& piece) { printer.take(piece); };
  options.on_gap = [&](const v1::LogGap& gap, const LogCursor& at) { printer.take_gap(gap, at); };
  options.on_pause = [&] {
    printer.flush();
    return !printer.failed();
  };
  options.on_note = [&](const std::string& text) { session.note(text); };
  return Follower(session.client(), std::move(options)).follow().status();
}

// A job that has ended has no attempts but those that it has; of one that has not, a later one may be waited for.
absl::Status check_attempt(Session& session, const LogRequest& request) {
  if (request.execution == 0) return absl::OkStatus();
  const absl::StatusOr<v1::Job> job = session.client().get_job(request.id);
  if (!job.ok() || request.execution <= job->executions_total()) return absl::OkStatus();
  if (request.follow && !has_ended(job->state())) return absl::OkStatus();
  const int total = job->executions_total();
  return absl::NotFoundError(cat("job ", request.id, " has ", total == 0 ? std::string("no") : cat(total),
                                 total == 1 ? " attempt" : " attempts", "; there is no attempt ", request.execution));
}

// Flags that make no sense together are found before the server is asked which job is meant.
absl::StatusOr<LogRequest> resolved_request(Session& session, const LogFlags& flags) {
  const bool data = session.form() == OutputForm::Json || session.form() == OutputForm::Yaml;
  ASSIGN_OR_RETURN(LogRequest request, make_log_request(flags, data, session.io.clock->now().wall, session.utc));
  ASSIGN_OR_RETURN(const FoundJob job, find_job(session, flags.id, SameName::TakesNewest));
  if (job.execution != 0 && request.execution != 0 && job.execution != request.execution) {
    return bad_field("--attempt", flags.id, " is attempt ", job.execution, ", not ", request.execution);
  }
  request.id = job.id;
  if (job.execution != 0) request.execution = job.execution;
  RETURN_IF_ERROR(check_attempt(session, request));
  return request;
}

int logs(Session& session, const LogFlags& flags) {
  const absl::StatusOr<LogRequest> request = resolved_request(session, flags);
  if (!request.ok()) return session.fail(request.status());
  LogPrinter printer(session, *request);
  LogCursor cursor(request->id);
  cursor.keep_to(request->execution);
  if (request->offset >= 0) cursor.begin_at(request->offset);
  cursor.begin_since(request->since);
  // The server finds the last lines without reading the others; which lines are chosen, only we know.
  const bool counts_here = request->tail > 0 && request->chooses_lines();
  if (!counts_here) cursor.begin_with_last(request->tail);
  if (counts_here) printer.keep_last(static_cast<size_t>(request->tail));
  absl::Status status;
  if (!request->follow || counts_here) {
    const bool later_too = request->execution == 0 && !request->follow;
    status = read_what_is_there(session, cursor, later_too, printer);
    printer.show_kept();
  }
  if (request->follow && status.ok()) status = follow(session, *request, cursor, printer);
  printer.finish();
  // Errors of writes to stdout are reported in one place for all commands.
  if (printer.failed()) return kRefused;
  return status.ok() ? kOk : session.fail(status);
}

}  // namespace

void add_job_logs(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("logs", "Show the output of a job, stdout and stderr apart");
  auto f = std::make_shared<LogFlags>();
  command->add_option("id", f->id, "id or name of the job, or the id of an execution (j2.1)")
      ->required()
      ->type_name("JOB");
  command->add_flag("-f,--follow", f->follow, "follow the output until the job ends");
  command->add_option("--attempt,--execution", f->execution, "only this attempt (1, 2, …)")->type_name("N");
  command->add_option("--tail", f->tail, "only the last N lines")->type_name("N");
  command->add_option("--since", f->since, "only output since then: 10m (ago), 2026-11-15T15:04:05Z")
      ->type_name("TIME");
  command->add_option("--grep", f->pattern, "only lines that match this regular expression (RE2)")->type_name("RE");
  command->add_flag("--stdout-only", f->stdout_only, "only stdout");
  command->add_flag("--stderr-only", f->stderr_only, "only stderr");
  command->add_flag("--timestamps", f->timestamps, "show the time of each line");
  command->add_flag("--raw", f->raw, "every byte exactly as written, including progress bars");
  command->add_option("--offset", f->offset, "start at this byte of the attempt's output, as given by -o json")
      ->type_name("N");
  command->callback([&session, f] { session.action = [&session, f] { return logs(session, *f); }; });
}

}  // namespace hodei::cli

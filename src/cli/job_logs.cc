#include "src/cli/job_logs.h"

#include <CLI/CLI.hpp>
#include <deque>

#include "src/base/ids.h"
#include "src/base/status.h"
#include "src/cli/exit_code.h"
#include "src/cli/follow.h"
#include "src/cli/job_view.h"
#include "src/cli/message_text.h"
#include "src/cli/quantities.h"
#include "src/cli/session.h"
#include "src/cli/stream_writer.h"

namespace hodei::cli {
namespace {

constexpr int64_t kLongestTail = 1'000'000;

struct LogFlags {
  std::string id;
  int32_t execution = 0;
  std::string tail;
  bool follow = false;
  bool timestamps = false;
};

struct Line {
  std::string bytes;
  bool is_stderr = false;
};

// Lines in the form asked for, of which a tail keeps only the last.
class LogPrinter {
 public:
  LogPrinter(const Session& session, const LogFlags& flags) : session_(session), flags_(flags), writer_(session.io) {}

  void keep_last(size_t lines) { tail_ = lines; }
  void take(const v1::LogEntry& entry, const std::string& bytes) {
    Line line{bytes, entry.is_stderr()};
    if (session_.form() == OutputForm::Json)
      line = {message_text(entry, TextForm::JsonLine), false};
    else if (flags_.timestamps)
      line.bytes.insert(0, cat(format_utc(wall_time(entry.timestamp())), " "));
    if (tail_ == 0) return writer_.add(line.is_stderr, line.bytes);
    kept_.push_back(std::move(line));
    if (kept_.size() > tail_) kept_.pop_front();
  }
  void flush() { writer_.flush(); }
  void finish() {
    for (const Line& line : kept_) writer_.add(line.is_stderr, line.bytes);
    flush();
  }
  bool closed() const { return writer_.closed(); }

 private:
  const Session& session_;
  const LogFlags& flags_;
  size_t tail_ = 0;
  std::deque<Line> kept_;
  StreamWriter writer_;
};

absl::Status print_what_is_there(Session& session, const LogFlags& flags, LogPrinter& printer) {
  LogCursor cursor(flags.id);
  cursor.keep_to(flags.execution);
  BackOff back_off;
  const MonoTime give_up = session.io.clock->now().mono + session.settings.duration("retry_for");
  while (true) {
    v1::SubscribeLogsRequest request = cursor.request();
    const bool resumed = cursor.inside_execution();
    request.set_no_follow(true);
    const absl::Status status = session.client().subscribe_logs(request, [&](const v1::LogChunk& chunk) {
      cursor.take(
          chunk, [&](const LogCursor::Piece& piece) { printer.take(piece.entry, piece.bytes); },
          [&](const v1::LogGap& gap) { session.note(cat("output is missing here (", gap.reason(), ")")); });
      printer.flush();
      return !printer.closed();
    });
    if (status.ok() && !(resumed && flags.execution == 0)) return status;
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

int logs(Session& session, const LogFlags& flags) {
  if (const absl::Status bad = parse_job_id(flags.id).status(); !bad.ok()) return session.fail(bad);
  LogPrinter printer(session, flags);
  if (!flags.tail.empty()) {
    const absl::StatusOr<int64_t> lines = parse_count(flags.tail, 1, kLongestTail);
    if (!lines.ok()) return session.fail(bad_field("--tail", std::string(lines.status().message())));
    if (flags.follow) return session.fail(bad_field("--tail", "cannot be combined with --follow"));
    printer.keep_last(static_cast<size_t>(*lines));
  }
  absl::Status status;
  if (flags.follow) {
    FollowOptions options;
    options.job_id = flags.id;
    options.execution = flags.execution;
    options.reconnect_for = session.settings.duration("reconnect_for");
    options.clock = session.io.clock;
    options.pause = session.io.pause;
    options.on_piece = [&](const LogCursor::Piece& piece) { printer.take(piece.entry, piece.bytes); };
    options.on_pause = [&] { printer.flush(); };
    options.on_note = [&](const std::string& text) { session.note(text); };
    status = Follower(session.client(), std::move(options)).follow().status();
  } else {
    status = print_what_is_there(session, flags, printer);
    printer.finish();
  }
  return status.ok() ? kOk : session.fail(status);
}

struct WatchFlags {
  std::string id;
  bool exit_code = false;
};

// The events of a stream that broke are shown from the first one again by the server; those already shown are skipped.
class EventPrinter {
 public:
  explicit EventPrinter(const Session& session) : session_(session) {}
  void new_stream() { transitions_ = 0; }

  void take(const v1::ExecutionEvent& event, bool one_job) {
    if (one_job && event.has_transition() && transitions_++ < shown_) return;
    if (event.has_transition()) ++shown_;
    if (session_.form() == OutputForm::Json) {
      session_.print(message_text(event, TextForm::JsonLine));
      return;
    }
    const WallTime at = wall_time(event.at());
    const std::string id = one_job ? std::string() : event.short_id() + "  ";
    if (event.has_transition())
      session_.print(id + event_line(at, event.transition(), {session_.colours(), false, at}));
    if (event.has_progress()) {
      session_.print(cat(id, format_utc(at), fmt::format("  {:.0f} %  ", event.progress().percentage()),
                         event.progress().message(), "\n"));
    }
    if (event.has_gap()) session_.note(cat(event.gap().lost(), " events were left out: this reader is too slow"));
  }

 private:
  const Session& session_;
  int transitions_ = 0;
  int shown_ = 0;
};

int watch(Session& session, const WatchFlags& flags) {
  const bool one_job = !flags.id.empty();
  if (one_job) {
    if (const absl::Status bad = parse_job_id(flags.id).status(); !bad.ok()) return session.fail(bad);
  }
  v1::ExecutionEventStreamRequest request;
  request.set_job_id(flags.id);
  request.set_namespace_(session.name_space());
  EventPrinter printer(session);
  BackOff back_off;
  MonoTime alive = session.io.clock->now().mono;
  bool ended = false;
  while (!ended) {
    printer.new_stream();
    const absl::Status status = session.client().follow_events(request, [&](const v1::ExecutionEvent& event) {
      alive = session.io.clock->now().mono;
      back_off.reset();
      printer.take(event, one_job);
      ended = one_job && event.final();
      return !ended;
    });
    if (status.ok()) break;
    const bool too_long =
        session.io.clock->now().mono - alive > session.settings.duration("reconnect_for") + kStreamLife;
    if (!Client::is_break(status) || too_long || !session.io.pause(back_off.next())) {
      return session.fail(session.client().explain(status));
    }
  }
  if (!flags.exit_code || !one_job) return kOk;
  const absl::StatusOr<v1::Job> job = session.client().get_job(flags.id);
  return job.ok() ? exit_code_of(*job) : session.fail(job.status());
}

}  // namespace

void add_job_logs(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("logs", "what a job printed, each line to its own stream");
  auto flags = std::make_shared<LogFlags>();
  command->add_option("id", flags->id, "short id or full id")->required()->type_name("JOB");
  command->add_flag("--follow", flags->follow, "go on until the job has ended");
  command->add_option("--execution", flags->execution, "only this attempt (1, 2, …)")->type_name("N");
  command->add_option("--tail", flags->tail, "only the last lines")->type_name("N");
  command->add_flag("--timestamps", flags->timestamps, "with the time of each line");
  command->callback([&session, flags] { session.action = [&session, flags] { return logs(session, *flags); }; });
}

void add_job_watch(CLI::App& group, Session& session) {
  CLI::App* command =
      group.add_subcommand("watch", "the transitions of a job as they happen; without an id, of all jobs");
  auto flags = std::make_shared<WatchFlags>();
  command->add_option("id", flags->id, "short id or full id")->type_name("JOB");
  command->add_flag("--exit-code", flags->exit_code, "end with the job's exit code, as run does");
  command->callback([&session, flags] { session.action = [&session, flags] { return watch(session, *flags); }; });
}

}  // namespace hodei::cli

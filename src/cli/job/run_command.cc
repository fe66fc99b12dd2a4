// Submit, follow, end as the job ends.
#include "src/cli/job/run_command.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>

#include "src/base/ids.h"
#include "src/base/status.h"
#include "src/cli/job/follow.h"
#include "src/cli/job/job_flags.h"
#include "src/cli/job/run_notes.h"
#include "src/cli/job/stdin_sender.h"
#include "src/cli/job/submit.h"
#include "src/cli/output/table.h"
#include "src/cli/session/session.h"
#include "src/cli/terminal/ctrl_c.h"
#include "src/cli/terminal/exit_code.h"
#include "src/cli/terminal/output_errors.h"
#include "src/cli/terminal/stream_writer.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli {
namespace {

// Repeats until the request is recorded or the job has ended; the server may be unreachable for a while.
void cancel(Session& session, const std::string& job_id, std::string_view reason) {
  v1::CancelJobRequest request;
  request.set_job_id(job_id);
  request.set_reason(std::string(reason));
  BackOff back_off;
  const MonoTime give_up = session.io.clock->now().mono + session.settings.duration("reconnect_for");
  while (true) {
    const absl::Status status = session.client().cancel_job(request).status();
    if (!Client::is_break(status) || session.io.clock->now().mono > give_up) return;
    if (!session.io.pause(back_off.next())) return;
  }
}

// What the exit code alone does not say.
std::string closing_note(const v1::Job& job, int code) {
  const std::string id = job.short_id();
  const std::string why = job.reason().empty() ? std::string() : cat(": ", printable(job.reason()));
  switch (job.state()) {
    case v1::Job::Timeout: return cat("job ", id, " timed out", why);
    case v1::Job::Cancelled: return cat("job ", id, " was cancelled", why);
    case v1::Job::Failed: break;
    default: return {};
  }
  const bool plain_exit =
      job.has_exit_code() && job.exit_code() == code && job.signal() == 0 && job.failure() == "non_zero_exit";
  return plain_exit ? std::string() : cat("job ", id, " failed", why);
}

// With -o json, yaml or name, stdout is for the job as data, and what the job prints goes to stderr.
bool shows_data(const Session& session) {
  return session.form() != OutputForm::Table && session.form() != OutputForm::Wide;
}

class Output {
 public:
  Output(Session& session, std::string job_id, bool cancel_on_close)
      : session_(session),
        job_id_(std::move(job_id)),
        cancel_on_close_(cancel_on_close),
        stdout_is_data_(shows_data(session)),
        writer_(session.io) {}
  ~Output() {
    if (cancel_.joinable()) cancel_.join();
  }

  void add(const LogCursor::Piece& piece) { writer_.add(piece.entry.is_stderr() || stdout_is_data_, piece.bytes); }
  // False: what the job prints cannot be written any more, and there is nothing left to do here.
  bool flush() {
    writer_.flush();
    if (!writer_.failed()) return true;
    if (!cancel_on_close_) return false;
    // As a local process would die of SIGPIPE. Its end is waited for.
    if (!cancel_.joinable()) {
      cancel_ = std::thread([this] { cancel(session_, job_id_, "its output is no longer read"); });
    }
    return true;
  }
  int error() const { return writer_.error(); }

 private:
  Session& session_;
  std::string job_id_;
  const bool cancel_on_close_;
  const bool stdout_is_data_;
  StreamWriter writer_;
  std::thread cancel_;
};

// The output cannot be written any more (`hodei run … | head`). The job is durable: it goes on without us.
int leave_it_running(Session& session, const std::string& job_id, int error) {
  session.output_errors->told = true;
  const absl::StatusOr<v1::Job> job = session.client().get_job(job_id);
  const std::string trouble = cat("error: cannot write the output of job ", job_id, ": ", write_error_text(error));
  if (job.ok() && has_ended(job->state())) {
    session.note(cat(trouble, "\n  the job has ended (", v1::Job::State_Name(job->state()),
                     "); see all of its output with `hodei job logs ", job_id, "`"));
  } else {
    const bool loses_input = job.ok() && job->spec().takes_stdin();
    session.note(
        cat(trouble, "\n  the job continues: follow it with `hodei job logs --follow ", job_id,
            "`, cancel it with `hodei job cancel ", job_id, "`\n  (use --cancel-on-close to cancel it automatically)",
            loses_input ? "\n  if it still reads standard input, it will fail: that came from this command" : ""));
  }
  return kPlatform;
}

// Is standard input the job's, or did we read it ourselves?
bool is_read_by_us(const JobFlags& flags) {
  const auto is_stdin = [](const std::string& pair) { return pair.ends_with("=-"); };
  return flags.script == "-" || flags.file == "-" ||
         std::any_of(flags.secrets.from.begin(), flags.secrets.from.end(), is_stdin);
}

// Null: the job's standard input is empty. A terminal is only read if that is asked for: a job that reads nothing would
// otherwise take what is typed for the next command.
absl::StatusOr<std::shared_ptr<InputSource>> input_for_job(const Session& session, const JobFlags& flags) {
  if (flags.with_stdin && flags.no_stdin) return bad_field("--stdin", "not together with --no-stdin");
  if (flags.with_stdin && flags.detach) return bad_field("--stdin", "cannot be combined with --detach");
  if (flags.with_stdin && is_read_by_us(flags)) {
    return bad_field("--stdin", "standard input is already used for a script, a job file or a secret");
  }
  const bool wanted = flags.with_stdin || !session.io.in_is_terminal;
  if (!wanted || flags.no_stdin || flags.detach || is_read_by_us(flags) || !session.io.open_input) return nullptr;
  return session.io.open_input();
}

int follow_to_the_end(Session& session, const std::string& job_id, const JobFlags& flags) {
  Output output(session, job_id, flags.cancel_on_close);
  FollowOptions options;
  options.job_id = job_id;
  options.reconnect_for = session.settings.duration("reconnect_for");
  options.clock = session.io.clock;
  options.pause = session.io.pause;
  options.on_piece = [&](const LogCursor::Piece& piece) { output.add(piece); };
  options.on_pause = [&] { return output.flush(); };
  options.on_note = [&](const std::string& text) { session.note(text); };
  const absl::StatusOr<v1::Job> job = Follower(session.client(), std::move(options)).follow();
  if (absl::IsCancelled(job.status()) && output.error() != 0) return leave_it_running(session, job_id, output.error());
  if (!job.ok()) return session.fail(job.status());
  const int code = exit_code_of(*job);
  if (const std::string note = closing_note(*job, code); !note.empty()) session.note(note);
  if (!shows_data(session)) return code;
  return session.io.out(session.data_text(*job).value_or(job->short_id() + "\n")) ? code : kPlatform;
}

int run(Session& session, const JobFlags& flags) {
  if (flags.dry_run) return session.show(dry_run_text(session, flags));
  std::optional<CtrlC> ctrl_c;
  const bool follows = !flags.detach;
  if (follows && session.io.handle_signals) ctrl_c.emplace();
  const absl::StatusOr<std::shared_ptr<InputSource>> input = input_for_job(session, flags);
  if (!input.ok()) return session.fail(input.status());
  const bool sends = *input != nullptr;
  const absl::StatusOr<v1::QueueJobResponse> queued = submit(session, flags, sends ? SendsStdin::Yes : SendsStdin::No);
  if (!queued.ok()) return session.fail(queued.status());
  if (sends && !queued->takes_stdin() && queued->note().empty()) {
    session.note("note: standard input is not sent: the server is an older version that does not support it");
  }
  const std::string id = queued->short_id();
  if (!follows) return session.io.out(session.data_text(*queued).value_or(id + "\n")) ? kOk : kPlatform;
  if (ctrl_c) {
    const auto cancel_it = [&session, id](int signal) {
      session.note(cat("cancelling job ", id, " (press Ctrl-C again to exit without waiting)"));
      cancel(session, id, signal == SIGTERM ? "the client that ran it was ended by SIGTERM" : "interrupted by Ctrl-C");
    };
    const auto leave_it = [&session, id] {
      session.note(cat("leaving; `hodei job get ", id, "` shows whether it was cancelled, `hodei job logs --follow ",
                       id, "` follows it"));
    };
    ctrl_c->start(cancel_it, leave_it);
  }
  RunNotes notes(session.client(), id, session.io.err_is_terminal,
                 [&](const std::string& text) { session.note(text); });
  notes.start();
  std::optional<StdinSender> sender;
  if (sends && queued->takes_stdin()) sender.emplace(session, id, *input).start();
  return follow_to_the_end(session, id, flags);
}

}  // namespace

void add_run_flags(CLI::App& command, JobFlags& flags) {
  command.add_flag("--detach", flags.detach, "print the id and do not wait");
  command.add_flag("--cancel-on-close", flags.cancel_on_close,
                   "cancel the job when its output can no longer be written (`hodei run … | head`)");
  command.add_flag("-i,--stdin", flags.with_stdin, "send standard input to the job, also from a terminal");
  command.add_flag("--no-stdin", flags.no_stdin, "leave standard input alone; the job's is empty");
}

void choose_run(Session& session, const std::shared_ptr<JobFlags>& flags) {
  session.is_run = true;
  session.takes_program = true;
  session.action = [&session, flags] { return run(session, *flags); };
}

void add_run_commands(CLI::App& root, Session& session) {
  CLI::App* command = root.add_subcommand("run", "Run a job, show its output and exit with its exit code");
  auto flags = std::make_shared<JobFlags>();
  add_job_flags(*command, *flags);
  add_run_flags(*command, *flags);
  command->footer("Put the command after `--`:  hodei run --timeout 30s -- sh -c 'echo hello'");
  command->callback([&session, flags] { choose_run(session, flags); });
}

}  // namespace hodei::cli

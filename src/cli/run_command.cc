// Submit, follow, end as the job ends.
#include "src/cli/run_command.h"

#include <CLI/CLI.hpp>

#include "src/base/ids.h"
#include "src/base/status.h"
#include "src/cli/ctrl_c.h"
#include "src/cli/exit_code.h"
#include "src/cli/follow.h"
#include "src/cli/job_flags.h"
#include "src/cli/quantities.h"
#include "src/cli/run_notes.h"
#include "src/cli/session.h"
#include "src/cli/stream_writer.h"
#include "src/cli/submit.h"
#include "src/cli/table.h"

namespace hodei::cli {
namespace {

// Until the wish is recorded or the job is over; the server may be away just now.
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
std::string last_words(const v1::Job& job, int code) {
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

class Output {
 public:
  Output(Session& session, std::string job_id) : session_(session), job_id_(std::move(job_id)), writer_(session.io) {}
  ~Output() {
    if (cancel_.joinable()) cancel_.join();
  }

  void add(const LogCursor::Piece& piece) { writer_.add(piece.entry.is_stderr(), piece.bytes); }
  void flush() {
    writer_.flush();
    // Nobody reads any more (`hodei run … | head`): a local process would die of SIGPIPE, so does the job.
    if (writer_.closed() && !cancel_.joinable()) {
      cancel_ = std::thread([this] { cancel(session_, job_id_, "nobody reads its output any more"); });
    }
  }

 private:
  Session& session_;
  std::string job_id_;
  StreamWriter writer_;
  std::thread cancel_;
};

int follow_to_the_end(Session& session, const std::string& job_id) {
  Output output(session, job_id);
  FollowOptions options;
  options.job_id = job_id;
  options.reconnect_for = session.settings.duration("reconnect_for");
  options.clock = session.io.clock;
  options.pause = session.io.pause;
  options.on_piece = [&](const LogCursor::Piece& piece) { output.add(piece); };
  options.on_pause = [&] { output.flush(); };
  options.on_note = [&](const std::string& text) { session.note(text); };
  const absl::StatusOr<v1::Job> job = Follower(session.client(), std::move(options)).follow();
  if (!job.ok()) return session.fail(job.status());
  const int code = exit_code_of(*job);
  if (const std::string words = last_words(*job, code); !words.empty()) session.note(words);
  return code;
}

int run(Session& session, const JobFlags& flags) {
  if (flags.dry_run) return session.show(dry_run_text(session, flags));
  std::optional<CtrlC> ctrl_c;
  const bool follows = !flags.detach;
  if (follows && session.io.handle_signals) ctrl_c.emplace();
  const absl::StatusOr<v1::QueueJobResponse> queued = submit(session, flags);
  if (!queued.ok()) return session.fail(queued.status());
  const std::string id = queued->short_id();
  if (!follows) return session.io.out(session.data_text(*queued).value_or(id + "\n")) ? kOk : kPlatform;
  if (ctrl_c) {
    ctrl_c->start([&session, id] {
      session.note(cat("cancelling job ", id, " (Ctrl-C again leaves it at once)"));
      cancel(session, id, "interrupted by Ctrl-C");
    });
  }
  RunNotes notes(session.client(), id, [&](const std::string& text) { session.note(text); });
  if (session.io.err_is_terminal) notes.start();
  return follow_to_the_end(session, id);
}

}  // namespace

void choose_run(Session& session, const std::shared_ptr<JobFlags>& flags) {
  session.is_run = true;
  session.takes_program = true;
  session.action = [&session, flags] { return run(session, *flags); };
}

void add_run_command(CLI::App& root, Session& session) {
  CLI::App* command = root.add_subcommand("run", "run a job here and now: its output, its exit code");
  auto flags = std::make_shared<JobFlags>();
  add_job_flags(*command, *flags);
  command->add_flag("--detach", flags->detach, "submit, print the id, leave");
  command->footer("A command stands behind `--`:  hodei run --timeout 30s -- sh -c 'echo hello'");
  command->callback([&session, flags] { choose_run(session, flags); });
}

}  // namespace hodei::cli

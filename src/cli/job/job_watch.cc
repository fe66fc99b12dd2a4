// `job watch`: the transitions of jobs as they happen.
#include <CLI/CLI.hpp>

#include "src/base/counted.h"
#include "src/base/printable.h"
#include "src/base/status.h"
#include "src/cli/documents/message_text.h"
#include "src/cli/job/job_logs.h"
#include "src/cli/job/job_lookup.h"
#include "src/cli/job/job_view.h"
#include "src/cli/session/session.h"
#include "src/cli/terminal/exit_code.h"
#include "src/cli/terminal/output_errors.h"

namespace hodei::cli {
namespace {

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
    const std::string json = message_text(event, TextForm::JsonLine);
    if (session_.form() == OutputForm::Json) return session_.print(json);
    if (session_.form() == OutputForm::Yaml) return session_.print("- " + json);  // a list of one-line values
    if (session_.form() == OutputForm::Name) return session_.print(event.short_id() + "\n");
    const WallTime at = wall_time(event.at());
    const std::string id = one_job ? std::string() : event.short_id() + "  ";
    if (event.has_transition()) session_.print(id + event_line(at, event.transition(), {session_.style(), false, at}));
    if (event.has_progress()) {
      session_.print(cat(id, shown_time(at, session_.style()),
                         fmt::format("  {:.0f} %  ", event.progress().percentage()),
                         printable(event.progress().message()), "\n"));
    }
    if (event.has_gap()) session_.note(cat(counted(event.gap().lost(), "event"), " skipped: this client is too slow"));
  }

 private:
  const Session& session_;
  int transitions_ = 0;
  int shown_ = 0;
};

int watch(Session& session, WatchFlags flags) {
  const bool one_job = !flags.id.empty();
  if (one_job) {
    absl::StatusOr<std::string> id = find_job_id(session, flags.id, SameName::TakesNewest);
    if (!id.ok()) return session.fail(id.status());
    flags.id = *std::move(id);
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
      return !ended && session.output_errors->error == 0;
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

void add_job_watch(CLI::App& group, Session& session) {
  CLI::App* command =
      group.add_subcommand("watch", "Show state changes of a job as they happen; without an id, of all jobs");
  auto flags = std::make_shared<WatchFlags>();
  command->add_option("id", flags->id, "id or name")->type_name("JOB");
  command->add_flag("--exit-code", flags->exit_code, "exit with the job's exit code, as run does");
  command->callback([&session, flags] { session.action = [&session, flags] { return watch(session, *flags); }; });
}

}  // namespace hodei::cli

// `hodei job wait`: until jobs have ended.
#include <CLI/CLI.hpp>

#include "src/base/printable.h"
#include "src/base/status.h"
#include "src/cli/job/job_commands.h"
#include "src/cli/job/job_lookup.h"
#include "src/cli/job/job_selection.h"
#include "src/cli/output/table.h"
#include "src/cli/session/session.h"
#include "src/cli/terminal/exit_code.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli {
namespace {

struct WaitFlags {
  std::vector<std::string> ids;
  SelectionFlags selection;
  std::string timeout;
  bool exit_code = false;
};

absl::StatusOr<std::vector<std::string>> awaited(Session& session, const WaitFlags& flags) {
  if (flags.ids.empty() && flags.selection.empty()) {
    return absl::InvalidArgumentError(
        "no jobs selected\ngive ids, or select jobs with --label, --state, --name, --since, …");
  }
  if (!flags.ids.empty() && !flags.selection.empty()) {
    return absl::InvalidArgumentError("give ids, or select jobs with --label, --state, …, but not both");
  }
  std::vector<std::string> out;
  for (const std::string& typed : flags.ids) {
    ASSIGN_OR_RETURN(std::string id, find_job_id(session, typed, SameName::TakesNewest));
    out.push_back(std::move(id));
  }
  if (flags.selection.empty()) return out;
  ASSIGN_OR_RETURN(const v1::ListJobsRequest request, make_list_request(session, flags.selection));
  ASSIGN_OR_RETURN(const std::vector<v1::Job> jobs, list_selected(session, request));
  for (const v1::Job& job : jobs) out.push_back(job.short_id());
  return out;
}

// How long it may still wait.
class Patience {
 public:
  Patience(const Clock& clock, std::optional<Duration> all)
      : clock_(clock), end_(all ? clock.now().mono + *all : kNever) {}
  bool is_over() const { return clock_.now().mono >= end_; }
  Duration left() const { return end_ == kNever ? kStreamLife : std::min(kStreamLife, end_ - clock_.now().mono); }

 private:
  const Clock& clock_;
  MonoTime end_;
};

// DEADLINE_EXCEEDED: it has not ended in time.
absl::StatusOr<v1::Job> wait_for(Session& session, const std::string& id, const Patience& patience) {
  v1::ExecutionEventStreamRequest request;
  request.set_job_id(id);
  BackOff back_off;
  MonoTime alive = session.io.clock->now().mono;
  while (true) {
    absl::StatusOr<v1::Job> job = session.client().get_job(id);
    if (job.ok() && has_ended(job->state())) return job;
    if (!job.ok() && !Client::is_break(job.status())) return job.status();
    if (patience.is_over()) return absl::DeadlineExceededError(cat("job ", id, " has not ended"));
    const absl::Status status = !job.ok() ? job.status()
                                          : session.client().follow_events(
                                                request,
                                                [&](const v1::ExecutionEvent& event) {
                                                  alive = session.io.clock->now().mono;
                                                  back_off.reset();
                                                  return !event.final();
                                                },
                                                {}, patience.left());
    if (status.ok()) continue;
    if (absl::IsDeadlineExceeded(status)) continue;  // a quiet stream: see how the job is
    const bool too_long =
        session.io.clock->now().mono - alive > session.settings.duration("reconnect_for") + kStreamLife;
    if (!Client::is_break(status) || too_long || !session.io.pause(std::min(back_off.next(), patience.left()))) {
      return session.client().explain(status);
    }
  }
}

std::string end_line(const v1::Job& job, const Style& style) {
  const std::string state = v1::Job::State_Name(job.state());
  return cat(job.short_id(), "  ", paint(state, colour_of_state(state), style.colours),
             job.reason().empty() || job.state() == v1::Job::Succeeded ? "" : cat("  ", printable(job.reason())), "\n");
}

int wait_for_jobs(Session& session, const WaitFlags& flags) {
  std::optional<Duration> limit;
  if (!flags.timeout.empty()) {
    const absl::StatusOr<Duration> given = parse_duration(flags.timeout);
    if (!given.ok()) return session.fail(bad_field("--timeout", std::string(given.status().message())));
    limit = *given;
    session.give_up_after = limit;
  }
  const Patience patience(*session.io.clock, limit);
  const absl::StatusOr<std::vector<std::string>> ids = awaited(session, flags);
  if (!ids.ok()) return session.fail(ids.status());
  if (ids->empty()) return session.fail(absl::NotFoundError("no jobs match"));
  const bool as_text = session.form() == OutputForm::Table || session.form() == OutputForm::Wide;
  std::vector<v1::Job> jobs;
  int code = kOk;
  for (const std::string& id : *ids) {
    absl::StatusOr<v1::Job> job = wait_for(session, id, patience);
    if (absl::IsDeadlineExceeded(job.status()) && patience.is_over()) {
      session.note(cat("job ", id, " has not ended within ", flags.timeout));
      return kTimedOut;
    }
    if (!job.ok()) return session.fail(job.status());
    if (job->state() != v1::Job::Succeeded) code = flags.exit_code ? exit_code_of(*job) : kRefused;
    if (as_text) session.print(end_line(*job, session.style()));
    if (session.form() == OutputForm::Name) session.print(job->short_id() + "\n");
    jobs.push_back(*std::move(job));
  }
  std::vector<const google::protobuf::Message*> messages;
  for (const v1::Job& job : jobs) messages.push_back(&job);
  const auto data = jobs.size() == 1 ? session.data_text(jobs[0]) : session.data_text(messages);
  if (data && session.show(*data) != kOk) return kRefused;
  return code;
}

}  // namespace

void add_job_wait(CLI::App& group, Session& session) {
  CLI::App* command =
      group.add_subcommand("wait", "Wait until jobs have ended; exits with 0 if all succeeded, otherwise with 1");
  auto flags = std::make_shared<WaitFlags>();
  command->add_option("id", flags->ids, "ids or names of the jobs")->type_name("JOB");
  add_selection_flags(*command, flags->selection);
  command->add_option("--timeout", flags->timeout, "stop waiting after this long and exit with 124")->type_name("TIME");
  command->add_flag("--exit-code", flags->exit_code,
                    "exit with the exit code of the last job that failed, as run does");
  command->callback(
      [&session, flags] { session.action = [&session, flags] { return wait_for_jobs(session, *flags); }; });
}

}  // namespace hodei::cli

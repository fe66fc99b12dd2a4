// `hodei job …`
#include <CLI/CLI.hpp>

#include "src/base/ids.h"
#include "src/base/status.h"
#include "src/cli/exit_code.h"
#include "src/cli/job_flags.h"
#include "src/cli/job_list.h"
#include "src/cli/job_logs.h"
#include "src/cli/job_view.h"
#include "src/cli/session.h"
#include "src/cli/submit.h"

namespace hodei::cli {
namespace {

ViewOptions view_options(const Session& session) {
  return {session.colours(), session.form() == OutputForm::Wide, session.io.clock->now().wall};
}

// A new job's id, or its answer in full.
absl::StatusOr<std::string> queued_text(const Session& session, const absl::StatusOr<v1::QueueJobResponse>& queued) {
  if (!queued.ok()) return queued.status();
  if (queued->existing())
    session.note(cat("this idempotency key is known: job ", queued->short_id(), " was made before"));
  return session.data_text(*queued).value_or(queued->short_id() + "\n");
}

absl::StatusOr<std::string> job_get_text(Session& session, const std::string& id) {
  RETURN_IF_ERROR(parse_job_id(id).status());
  ASSIGN_OR_RETURN(const v1::Job job, session.client().get_job(id));
  if (const auto data = session.data_text(job)) return *data;
  if (session.form() == OutputForm::Name) return job.short_id() + "\n";
  return job_page(job, view_options(session));
}

absl::StatusOr<std::string> cancel_text(Session& session, const v1::CancelJobRequest& request) {
  RETURN_IF_ERROR(parse_job_id(request.job_id()).status());
  ASSIGN_OR_RETURN(const v1::CancelJobResponse answer, session.client().cancel_job(request));
  if (const auto data = session.data_text(answer)) return *data;
  if (session.form() == OutputForm::Name) return request.job_id() + "\n";
  return has_ended(answer.state())
             ? cat(request.job_id(), " is ", v1::Job::State_Name(answer.state()), "\n")
             : cat(request.job_id(), " is ", v1::Job::State_Name(answer.state()), " and being cancelled\n");
}

absl::StatusOr<std::string> explain_text(Session& session, const std::string& id) {
  RETURN_IF_ERROR(parse_job_id(id).status());
  ASSIGN_OR_RETURN(const v1::SchedulingDecision decision, session.client().scheduling_decision(id));
  if (const auto data = session.data_text(decision)) return *data;
  ASSIGN_OR_RETURN(const v1::Job job, session.client().get_job(id));
  return decision_text(decision, job, view_options(session));
}

void add_submit(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("submit", "queue a job and print its id");
  auto flags = std::make_shared<JobFlags>();
  add_job_flags(*command, *flags);
  command->add_flag("--detach", flags->detach, "what submit always does; accepted for symmetry with run");
  command->footer("A command stands behind `--`:  hodei job submit --attempts 3 -- make test");
  command->callback([&session, flags] {
    session.takes_program = true;
    session.action = [&session, flags] { return session.show(queued_text(session, submit(session, *flags))); };
  });
}

void add_job_get(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("get", "one job: its state, executions, history");
  auto id = std::make_shared<std::string>();
  auto watch = std::make_shared<bool>(false);
  command->add_option("id", *id, "short id or full id")->required()->type_name("JOB");
  command->add_flag("--watch", *watch, "show it again and again");
  command->callback([&session, id, watch] {
    session.action = [&session, id, watch] { return session.show(*watch, [&] { return job_get_text(session, *id); }); };
  });
}

void add_cancel(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("cancel", "end jobs before they end by themselves");
  auto ids = std::make_shared<std::vector<std::string>>();
  auto request = std::make_shared<v1::CancelJobRequest>();
  auto reason = std::make_shared<std::string>();
  auto wait = std::make_shared<bool>(false);
  command->add_option("id", *ids, "the jobs")->required()->type_name("JOB");
  command->add_option("--reason", *reason, "kept in the job's history")->type_name("TEXT");
  command->add_flag("--wait", *wait, "until the job has ended");
  command->callback([&session, ids, request, reason, wait] {
    session.action = [&session, ids, request, reason, wait] {
      request->set_reason(*reason);
      request->set_wait(*wait);
      int code = kOk;
      for (const std::string& id : *ids) {
        request->set_job_id(id);
        if (const int bad = session.show(cancel_text(session, *request)); bad != kOk) code = bad;
      }
      return code;
    };
  });
}

void add_retry(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("retry", "make a new job from a finished one and print its id");
  auto id = std::make_shared<std::string>();
  command->add_option("id", *id, "a job that has ended")->required()->type_name("JOB");
  command->callback([&session, id] {
    session.action = [&session, id] {
      if (const absl::Status bad = parse_job_id(*id).status(); !bad.ok()) return session.fail(bad);
      v1::RetryJobRequest request;
      request.set_job_id(*id);
      request.set_correlation_id(session.correlation_id);
      return session.show(queued_text(session, session.client().retry_job(request)));
    };
  });
}

void add_explain(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("explain", "why a job is where it is, or why it waits");
  auto id = std::make_shared<std::string>();
  command->add_option("id", *id, "short id or full id")->required()->type_name("JOB");
  command->callback(
      [&session, id] { session.action = [&session, id] { return session.show(explain_text(session, *id)); }; });
}

}  // namespace

void add_job_commands(CLI::App& root, Session& session) {
  CLI::App* group = root.add_subcommand("job", "submit, list, look at and end jobs");
  group->require_subcommand(1);
  add_submit(*group, session);
  add_job_list(*group, session);
  add_job_get(*group, session);
  add_job_logs(*group, session);
  add_cancel(*group, session);
  add_retry(*group, session);
  add_explain(*group, session);
  add_job_watch(*group, session);
}

}  // namespace hodei::cli

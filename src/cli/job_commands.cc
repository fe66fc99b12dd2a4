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

constexpr int kShownExecutions = 20;
constexpr int kLargestExecutionPage = 1000;
constexpr size_t kMostDeletedAtOnce = 500;

// Puts what an older page has before what is there.
void put_older_before(v1::Job older, v1::Job& job) {
  older.mutable_executions()->MergeFrom(job.executions());
  older.mutable_history()->MergeFrom(job.history());
  job.mutable_executions()->Swap(older.mutable_executions());
  job.mutable_history()->Swap(older.mutable_history());
  job.set_older_executions_token(older.older_executions_token());
}

absl::StatusOr<v1::Job> get_with_executions(Session& session, const std::string& id, bool all) {
  v1::GetJobRequest request;
  request.set_job_id(id);
  request.set_execution_page_size(all ? kLargestExecutionPage : kShownExecutions);
  ASSIGN_OR_RETURN(v1::Job job, session.client().get_job(request));
  while (all && !job.older_executions_token().empty()) {
    request.set_execution_page_token(job.older_executions_token());
    ASSIGN_OR_RETURN(v1::Job older, session.client().get_job(request));
    put_older_before(std::move(older), job);
  }
  return job;
}

absl::StatusOr<std::string> job_get_text(Session& session, const std::string& id, bool all) {
  RETURN_IF_ERROR(parse_job_id(id).status());
  ASSIGN_OR_RETURN(const v1::Job job, get_with_executions(session, id, all));
  if (!job.older_executions_token().empty()) {
    session.note(cat("these are the newest ", job.executions_size(), " of ", job.executions_total(),
                     " executions; see the others with --all-executions"));
  }
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
  auto all = std::make_shared<bool>(false);
  command->add_option("id", *id, "short id or full id")->required()->type_name("JOB");
  command->add_flag("--watch", *watch, "show it again and again");
  command->add_flag("--all-executions", *all, cat("not only the newest ", kShownExecutions));
  command->callback([&session, id, watch, all] {
    session.action = [&session, id, watch, all] {
      return session.show(*watch, [&] { return job_get_text(session, *id, *all); });
    };
  });
}

absl::StatusOr<std::string> job_delete_text(Session& session, const std::vector<std::string>& ids,
                                            const std::string& reason) {
  int deleted = 0;
  for (const std::string& id : ids) RETURN_IF_ERROR(parse_job_id(id).status());
  for (size_t at = 0; at < ids.size(); at += kMostDeletedAtOnce) {
    v1::DeleteJobsRequest request;
    request.set_reason(reason);
    for (size_t i = at; i < std::min(ids.size(), at + kMostDeletedAtOnce); ++i) request.add_job_ids(ids[i]);
    ASSIGN_OR_RETURN(const v1::DeleteJobsResponse answer, session.client().delete_jobs(request));
    deleted += answer.deleted();
  }
  v1::DeleteJobsResponse all;
  all.set_deleted(deleted);
  if (const auto data = session.data_text(all)) return *data;
  return cat(deleted, deleted == 1 ? " job" : " jobs", " deleted\n");
}

void add_job_delete(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("delete", "forget finished jobs, with their output and history");
  command->alias("rm");
  auto ids = std::make_shared<std::vector<std::string>>();
  auto reason = std::make_shared<std::string>();
  command->add_option("id", *ids, "jobs that have ended")->required()->type_name("JOB");
  command->add_option("--reason", *reason, "kept in the audit trail")->type_name("TEXT");
  command->footer(
      "A job that has not ended is not deleted: end it with `hodei job cancel --wait`. What was deleted does not come "
      "back.");
  command->callback([&session, ids, reason] {
    session.action = [&session, ids, reason] { return session.show(job_delete_text(session, *ids, *reason)); };
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
  CLI::App* group = root.add_subcommand("job", "submit, list, look at, end and delete jobs");
  group->require_subcommand(1);
  add_submit(*group, session);
  add_job_list(*group, session);
  add_job_get(*group, session);
  add_job_logs(*group, session);
  add_cancel(*group, session);
  add_retry(*group, session);
  add_job_delete(*group, session);
  add_explain(*group, session);
  add_job_watch(*group, session);
}

}  // namespace hodei::cli

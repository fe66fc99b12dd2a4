// `hodei job …`
#include "src/cli/job/job_commands.h"

#include <CLI/CLI.hpp>

#include "src/base/counted.h"
#include "src/base/status.h"
#include "src/cli/job/job_list.h"
#include "src/cli/job/job_logs.h"
#include "src/cli/job/job_lookup.h"
#include "src/cli/job/job_view.h"
#include "src/cli/session/session.h"

namespace hodei::cli {
namespace {

constexpr int kShownExecutions = 20;
constexpr int kLargestExecutionPage = 1000;

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

struct GetFlags {
  std::vector<std::string> ids;
  bool watch = false;
  bool all = false;
};

absl::StatusOr<std::string> job_get_text(Session& session, const GetFlags& flags) {
  std::vector<v1::Job> jobs;
  for (const std::string& typed : flags.ids) {
    ASSIGN_OR_RETURN(const FoundJob found, find_job(session, typed, SameName::TakesNewest));
    ASSIGN_OR_RETURN(v1::Job job, get_with_executions(session, found.id, flags.all));
    if (found.execution > job.executions_total()) {
      return absl::NotFoundError(
          cat("job ", found.id, " has ", counted(job.executions_total(), "execution"), ", so there is no ", typed));
    }
    if (!job.older_executions_token().empty()) {
      session.note(cat("these are the newest ", job.executions_size(), " of ", job.executions_total(),
                       " executions; see the others with --all-executions"));
    }
    jobs.push_back(std::move(job));
  }
  std::vector<const google::protobuf::Message*> messages;
  std::string text;
  for (const v1::Job& job : jobs) {
    messages.push_back(&job);
    text += session.form() == OutputForm::Name ? job.short_id() + "\n"
                                               : cat(text.empty() ? "" : "\n", job_page(job, view_options(session)));
  }
  if (jobs.size() == 1) return session.data_text(jobs[0]).value_or(text);
  return session.data_text(messages).value_or(text);
}

absl::StatusOr<std::string> explain_text(Session& session, const std::string& typed) {
  ASSIGN_OR_RETURN(const std::string id, find_job_id(session, typed, SameName::TakesNewest));
  ASSIGN_OR_RETURN(const v1::SchedulingDecision decision, session.client().scheduling_decision(id));
  if (const auto data = session.data_text(decision)) return *data;
  ASSIGN_OR_RETURN(const v1::Job job, session.client().get_job(id));
  if (session.form() == OutputForm::Name) return job.short_id() + "\n";
  return decision_text(decision, job, view_options(session));
}

void add_job_get(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("get", "Show a job: its state, executions and history");
  auto flags = std::make_shared<GetFlags>();
  command->add_option("id", flags->ids, "id or name; several are shown in turn")->required()->type_name("JOB");
  command->add_flag("--watch", flags->watch, "refresh until you press Ctrl-C");
  command->add_flag("--all-executions", flags->all, cat("all executions, not only the newest ", kShownExecutions));
  command->footer("Submit a job again from its YAML:  hodei job get j2 -o yaml | hodei job submit -f -");
  command->callback([&session, flags] {
    session.action = [&session, flags] {
      return session.show(flags->watch, [&] { return job_get_text(session, *flags); });
    };
  });
}

void add_explain(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("explain", "Explain why a job runs where it does, or why it is waiting");
  auto id = std::make_shared<std::string>();
  command->add_option("id", *id, "id or name")->required()->type_name("JOB");
  command->callback(
      [&session, id] { session.action = [&session, id] { return session.show(explain_text(session, *id)); }; });
}

}  // namespace

ViewOptions view_options(const Session& session) {
  return {session.style(), session.form() == OutputForm::Wide, session.io.clock->now().wall};
}

void add_job_commands(CLI::App& root, Session& session) {
  CLI::App* group = root.add_subcommand("job", "Submit, list, inspect, cancel and delete jobs");
  group->require_subcommand(1);
  add_job_submit(*group, session);
  add_job_list(*group, session);
  add_job_get(*group, session);
  add_job_logs(*group, session);
  add_job_wait(*group, session);
  add_job_cancel(*group, session);
  add_job_retry(*group, session);
  add_job_delete(*group, session);
  add_explain(*group, session);
  add_job_watch(*group, session);
}

}  // namespace hodei::cli

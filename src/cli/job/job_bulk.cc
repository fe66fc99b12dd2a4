// `hodei job cancel`, `retry` and `delete`: jobs by their ids, or all that flags choose, after a question.
#include <CLI/CLI.hpp>

#include "src/base/counted.h"
#include "src/base/printable.h"
#include "src/base/status.h"
#include "src/cli/job/job_commands.h"
#include "src/cli/job/job_lookup.h"
#include "src/cli/job/job_selection.h"
#include "src/cli/session/session.h"
#include "src/cli/terminal/exit_code.h"

namespace hodei::cli {
namespace {

constexpr size_t kMostDeletedAtOnce = 500;
constexpr size_t kNamedInQuestion = 5;

struct BulkFlags {
  std::vector<std::string> ids;
  SelectionFlags selection;
  std::string reason;
  bool wait = false;
  bool yes = false;
  bool no_stdin = false;
};

std::string jobs_as_text(size_t count) { return counted(count, "job"); }

void add_bulk_flags(CLI::App& command, BulkFlags& flags, const std::string& which) {
  command.add_option("id", flags.ids, which)->type_name("JOB");
  add_selection_flags(command, flags.selection);
  command.add_flag("-y,--yes", flags.yes, "do not ask");
}

absl::Status check_choice(const BulkFlags& flags) {
  if (flags.ids.empty() && flags.selection.empty()) {
    return absl::InvalidArgumentError(
        "no jobs selected\ngive ids, or select jobs with --label, --state, --name, --since, …");
  }
  if (!flags.ids.empty() && !flags.selection.empty()) {
    return absl::InvalidArgumentError("give ids, or select jobs with --label, --state, …, but not both");
  }
  return absl::OkStatus();
}

// States that the command makes sense for; those that were asked for must be among them.
absl::Status narrow_states(std::vector<v1::Job::State> sensible, bool chosen_by_default, std::string_view why_not,
                           v1::ListJobsRequest& request) {
  for (const int state : request.states()) {
    if (std::find(sensible.begin(), sensible.end(), state) != sensible.end()) continue;
    return bad_field("--state", v1::Job::State_Name(static_cast<v1::Job::State>(state)), ": ", why_not);
  }
  if (request.states().empty() && chosen_by_default) {
    for (const v1::Job::State state : sensible) request.add_states(state);
  }
  return absl::OkStatus();
}

std::string some_of(const std::vector<std::string>& ids) {
  std::string out;
  for (size_t i = 0; i < ids.size() && i < kNamedInQuestion; ++i) out += cat(out.empty() ? "" : ", ", ids[i]);
  return ids.size() > kNamedInQuestion ? out + ", …" : out;
}

using Narrow = absl::Status (*)(v1::ListJobsRequest& request);

// The ids that were given, or those of the jobs that were chosen, once the user has agreed.
absl::StatusOr<std::vector<std::string>> chosen_jobs(Session& session, const BulkFlags& flags, std::string_view verb,
                                                     Narrow narrow) {
  RETURN_IF_ERROR(check_choice(flags));
  if (!flags.ids.empty()) return flags.ids;
  ASSIGN_OR_RETURN(v1::ListJobsRequest request, make_list_request(session, flags.selection));
  RETURN_IF_ERROR(narrow(request));
  ASSIGN_OR_RETURN(const std::vector<v1::Job> jobs, list_selected(session, std::move(request)));
  std::vector<std::string> ids;
  for (const v1::Job& job : jobs) ids.push_back(job.short_id());
  if (ids.empty()) return ids;
  const std::string question = cat(verb, " ", jobs_as_text(ids.size()), " (", some_of(ids), ")?");
  RETURN_IF_ERROR(session.confirm(question, flags.yes));
  return ids;
}

// A job that was named by an execution is meant only while that is its newest.
absl::StatusOr<std::string> job_to_end(Session& session, const std::string& typed) {
  ASSIGN_OR_RETURN(const FoundJob found, find_job(session, typed, SameName::IsRefused));
  if (found.execution == 0) return found.id;
  ASSIGN_OR_RETURN(const v1::Job job, session.client().get_job(found.id));
  if (job.executions_total() == found.execution) return found.id;
  return absl::FailedPreconditionError(cat(typed, " is not the newest execution of job ", found.id, ", which has ",
                                           job.executions_total(),
                                           "\nuse the id of the job to refer to the job itself"));
}

// The result for each job. Errors, and lines for people, are printed at once.
template <class Answer>
struct Outcome {
  std::vector<Answer> answers;
  size_t already = 0;  // ended meanwhile
  int code = kOk;
};

bool is_data(const Session& session) {
  return session.form() == OutputForm::Json || session.form() == OutputForm::Yaml;
}

template <class Answer>
void take(const Session& session, Answer answer, const std::string& line, Outcome<Answer>& outcome) {
  if (!is_data(session)) {
    if (const int shown = session.show(line); shown != kOk) outcome.code = shown;
  }
  outcome.answers.push_back(std::move(answer));
}

template <class Answer>
int finish(const Session& session, const Outcome<Answer>& outcome, size_t asked, std::string_view done) {
  if (outcome.answers.empty() && outcome.code != kOk) return outcome.code;
  std::vector<const google::protobuf::Message*> messages;
  for (const Answer& answer : outcome.answers) messages.push_back(&answer);
  int shown = kOk;
  if (is_data(session)) {
    shown = session.show(asked == 1 && messages.size() == 1 ? *session.data_text(outcome.answers[0])
                                                            : *session.data_text(messages));
  }
  if (!done.empty()) {
    session.note(cat(jobs_as_text(outcome.answers.size()), " ", done,
                     outcome.already > 0 ? cat(", ", outcome.already, " had ended already") : std::string()));
  }
  return shown == kOk ? outcome.code : shown;
}

// With the server away the rest would fail one after another, each after a wait.
bool ends_the_row(const Session& session, const absl::Status& status, size_t done, size_t all) {
  if (!absl::IsUnavailable(status) || all == 1) return false;
  session.note(cat("stopped after ", done, " of ", jobs_as_text(all), "; run it again for the rest"));
  return true;
}

std::string cancel_line(const v1::CancelJobResponse& answer) {
  const std::string state = v1::Job::State_Name(answer.state());
  return has_ended(answer.state()) ? cat(answer.short_id(), " is ", state, "\n")
                                   : cat(answer.short_id(), " is ", state, " and being cancelled\n");
}

absl::Status for_cancel(v1::ListJobsRequest& request) {
  return narrow_states({v1::Job::Pending, v1::Job::Scheduled, v1::Job::Running}, true, "such a job has ended already",
                       request);
}

absl::Status for_retry(v1::ListJobsRequest& request) {
  RETURN_IF_ERROR(narrow_states({v1::Job::Failed, v1::Job::Timeout, v1::Job::Cancelled, v1::Job::Succeeded}, false,
                                "only a finished job is retried", request));
  if (!request.states().empty()) return absl::OkStatus();
  request.add_states(v1::Job::Failed);
  request.add_states(v1::Job::Timeout);
  return absl::OkStatus();
}

absl::Status for_delete(v1::ListJobsRequest& request) {
  return narrow_states({v1::Job::Succeeded, v1::Job::Failed, v1::Job::Cancelled, v1::Job::Timeout}, true,
                       "only finished jobs can be deleted; end it with `hodei job cancel --wait`", request);
}

int cancel_jobs(Session& session, const BulkFlags& flags) {
  const auto ids = chosen_jobs(session, flags, "Cancel", for_cancel);
  if (!ids.ok()) return session.fail(ids.status());
  const bool by_choice = flags.ids.empty();
  if (by_choice && ids->empty()) session.note("no unfinished jobs match");
  Outcome<v1::CancelJobResponse> outcome;
  for (const std::string& typed : *ids) {
    absl::StatusOr<std::string> id = by_choice ? typed : job_to_end(session, typed);
    v1::CancelJobRequest request;
    request.set_job_id(id.value_or(""));
    request.set_reason(flags.reason);
    request.set_wait(flags.wait);
    absl::StatusOr<v1::CancelJobResponse> answer = id.ok() ? session.client().cancel_job(request) : id.status();
    if (by_choice && absl::IsFailedPrecondition(answer.status())) {
      ++outcome.already;
    } else if (!answer.ok()) {
      outcome.code = session.fail(answer.status());
      if (ends_the_row(session, answer.status(), outcome.answers.size(), ids->size())) break;
    } else {
      if (answer->short_id().empty()) answer->set_short_id(*id);  // an older server does not say
      const std::string line = session.form() == OutputForm::Name ? answer->short_id() + "\n" : cancel_line(*answer);
      take(session, *std::move(answer), line, outcome);
    }
  }
  return finish(session, outcome, ids->size(), by_choice && !ids->empty() ? "cancelled" : "");
}

int retry_jobs(Session& session, const BulkFlags& flags) {
  const auto ids = chosen_jobs(session, flags, "Retry", for_retry);
  if (!ids.ok()) return session.fail(ids.status());
  const bool by_choice = flags.ids.empty();
  if (by_choice && ids->empty()) session.note("no jobs to retry match (without --state: Failed and Timeout)");
  Outcome<v1::QueueJobResponse> outcome;
  for (const std::string& typed : *ids) {
    const absl::StatusOr<std::string> id = by_choice ? typed : find_job_id(session, typed, SameName::IsRefused);
    v1::RetryJobRequest request;
    request.set_job_id(id.value_or(""));
    request.set_correlation_id(session.correlation_id);
    request.set_without_stdin(flags.no_stdin);
    absl::StatusOr<v1::QueueJobResponse> answer = id.ok() ? session.client().retry_job(request) : id.status();
    if (!answer.ok()) {
      outcome.code = session.fail(answer.status());
      if (ends_the_row(session, answer.status(), outcome.answers.size(), ids->size())) break;
      continue;
    }
    const std::string line = answer->short_id() + "\n";
    take(session, *std::move(answer), line, outcome);
  }
  return finish(session, outcome, ids->size(), by_choice && !ids->empty() ? "queued again" : "");
}

absl::StatusOr<std::string> delete_text(Session& session, const BulkFlags& flags) {
  ASSIGN_OR_RETURN(std::vector<std::string> ids, chosen_jobs(session, flags, "Delete", for_delete));
  if (!flags.ids.empty()) {
    for (std::string& id : ids) {
      ASSIGN_OR_RETURN(id, find_job_id(session, id, SameName::IsRefused));
    }
  }
  int deleted = 0;
  for (size_t at = 0; at < ids.size(); at += kMostDeletedAtOnce) {
    v1::DeleteJobsRequest request;
    request.set_reason(flags.reason);
    for (size_t i = at; i < std::min(ids.size(), at + kMostDeletedAtOnce); ++i) request.add_job_ids(ids[i]);
    ASSIGN_OR_RETURN(const v1::DeleteJobsResponse answer, session.client().delete_jobs(request));
    deleted += answer.deleted();
  }
  v1::DeleteJobsResponse all;
  all.set_deleted(deleted);
  if (const auto data = session.data_text(all)) return *data;
  if (session.form() != OutputForm::Name) return cat(jobs_as_text(static_cast<size_t>(deleted)), " deleted\n");
  std::string names;
  for (const std::string& id : ids) names += id + "\n";
  return names;
}

}  // namespace

void add_job_cancel(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("cancel", "Cancel jobs");
  auto flags = std::make_shared<BulkFlags>();
  add_bulk_flags(*command, *flags, "ids or names of the jobs");
  command->add_option("--reason", flags->reason, "a reason for the job's history")->type_name("TEXT");
  command->add_flag("--wait", flags->wait, "wait until the job has ended");
  command->callback([&session, flags] { session.action = [&session, flags] { return cancel_jobs(session, *flags); }; });
}

void add_job_retry(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("retry", "Queue a new job from a finished one and print its id");
  auto flags = std::make_shared<BulkFlags>();
  add_bulk_flags(*command, *flags, "ids or names of jobs that have ended");
  command->add_flag("--no-stdin", flags->no_stdin,
                    "give the new job an empty standard input: that of `hodei run` is not kept");
  command->callback([&session, flags] { session.action = [&session, flags] { return retry_jobs(session, *flags); }; });
}

void add_job_delete(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("delete", "Delete finished jobs with their output and history");
  command->alias("rm");
  auto flags = std::make_shared<BulkFlags>();
  add_bulk_flags(*command, *flags, "ids or names of jobs that have ended");
  command->add_option("--reason", flags->reason, "a reason for the audit trail")->type_name("TEXT");
  command->footer(
      "Only finished jobs can be deleted: end a job with `hodei job cancel --wait` first. Deleted jobs cannot be "
      "restored.");
  command->callback(
      [&session, flags] { session.action = [&session, flags] { return session.show(delete_text(session, *flags)); }; });
}

}  // namespace hodei::cli

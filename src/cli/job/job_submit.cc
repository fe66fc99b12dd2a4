// `hodei job submit`: one job, or all jobs of a file; and what a submission would do.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>

#include "src/base/counted.h"
#include "src/base/status.h"
#include "src/cli/job/job_commands.h"
#include "src/cli/job/job_flags.h"
#include "src/cli/job/job_view.h"
#include "src/cli/job/submit.h"
#include "src/cli/session/session.h"
#include "src/cli/terminal/exit_code.h"

namespace hodei::cli {
namespace {

// Of one call, below what a server takes in one message; a batch is stored as a whole or not at all.
constexpr size_t kLargestBatch = 3 << 20;

void complete(const Session& session, v1::QueueJobRequest& request) {
  if (!session.name_space().empty()) request.set_namespace_(session.name_space());
  if (!session.correlation_id.empty()) request.set_correlation_id(session.correlation_id);
  if (!request.spec().takes_stdin()) return;
  session.note("note: takes_stdin is ignored: this command does not send standard input; use `hodei run`");
  request.mutable_spec()->clear_takes_stdin();
}

// Each note once, however many jobs it is about.
void tell_notes(const Session& session, const std::vector<v1::QueueJobResponse>& queued) {
  std::map<std::string, size_t> notes;
  for (const v1::QueueJobResponse& one : queued) {
    if (!one.note().empty()) ++notes[one.note()];
  }
  for (const auto& [note, count] : notes)
    session.note(cat("note: ", note, count > 1 ? cat(" (", counted(count, "job"), ")") : std::string()));
}

void tell(const Session& session, const v1::QueueJobResponse& queued) {
  if (queued.existing())
    session.note(cat("this idempotency key is already in use: job ", queued.short_id(), " was created with it before"));
}

bool fit_one_batch(const std::vector<v1::QueueJobRequest>& requests) {
  return std::all_of(requests.begin(), requests.end(), [&](const v1::QueueJobRequest& request) {
    return request.template_().empty() && request.namespace_() == requests[0].namespace_() &&
           request.correlation_id() == requests[0].correlation_id() &&
           request.allow_other_spec() == requests[0].allow_other_spec();
  });
}

using Queued = std::vector<v1::QueueJobResponse>;

// Jobs that were submitted before stay, so the user must be told about them.
absl::Status after_some(const absl::Status& why, const Queued& queued, size_t all) {
  if (queued.empty()) return why;
  std::string ids;
  for (const v1::QueueJobResponse& one : queued) ids += cat(ids.empty() ? "" : " ", one.short_id());
  return absl::Status(why.code(), cat(std::string(why.message()), "\n", queued.size(), " of ", all,
                                      " jobs were queued before this one: ", ids));
}

absl::Status queue_in_batches(Session& session, const std::vector<v1::QueueJobRequest>& requests, Queued& queued) {
  for (size_t at = 0; at < requests.size();) {
    v1::QueueJobBatchRequest batch;
    batch.set_namespace_(requests[0].namespace_());
    batch.set_correlation_id(requests[0].correlation_id());
    batch.set_allow_other_spec(requests[0].allow_other_spec());
    for (size_t bytes = 0; at < requests.size(); ++at) {
      bytes += requests[at].spec().ByteSizeLong();
      if (bytes > kLargestBatch && batch.specs_size() > 0) break;
      *batch.add_specs() = requests[at].spec();
    }
    ASSIGN_OR_RETURN(const v1::QueueJobBatchResponse answer, session.client().queue_batch(batch));
    queued.insert(queued.end(), answer.jobs().begin(), answer.jobs().end());
  }
  return absl::OkStatus();
}

absl::Status queue_one_by_one(Session& session, const std::vector<v1::QueueJobRequest>& requests, Queued& queued) {
  for (size_t i = 0; i < requests.size(); ++i) {
    const absl::StatusOr<v1::QueueJobResponse> one = session.client().queue_job(requests[i]);
    if (!one.ok()) {
      const std::string which = requests.size() > 1 ? cat("job ", i + 1, " of the file: ") : std::string();
      return absl::Status(one.status().code(), which + std::string(one.status().message()));
    }
    queued.push_back(*one);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> submit_text(Session& session, const JobFlags& flags) {
  ASSIGN_OR_RETURN(std::vector<v1::QueueJobRequest> requests, make_requests(flags, session.program, session.io));
  for (v1::QueueJobRequest& request : requests) complete(session, request);
  Queued queued;
  const absl::Status status = requests.size() > 1 && fit_one_batch(requests)
                                  ? queue_in_batches(session, requests, queued)
                                  : queue_one_by_one(session, requests, queued);
  if (!status.ok()) return after_some(status, queued, requests.size());
  std::vector<const google::protobuf::Message*> messages;
  std::string ids;
  tell_notes(session, queued);
  for (const v1::QueueJobResponse& one : queued) {
    tell(session, one);
    messages.push_back(&one);
    ids += one.short_id() + "\n";
  }
  if (queued.size() == 1) return session.data_text(queued[0]).value_or(ids);
  return session.data_text(messages).value_or(ids);
}

}  // namespace

absl::StatusOr<v1::QueueJobResponse> submit(Session& session, const JobFlags& flags, SendsStdin sends_stdin) {
  ASSIGN_OR_RETURN(v1::QueueJobRequest request, make_request(flags, session.program, session.io));
  complete(session, request);
  request.mutable_spec()->set_takes_stdin(sends_stdin == SendsStdin::Yes);
  absl::StatusOr<v1::QueueJobResponse> queued = session.client().queue_job(request);
  if (queued.ok() && !queued->note().empty()) session.note(cat("note: ", queued->note()));
  return queued;
}

absl::StatusOr<std::string> dry_run_text(Session& session, const JobFlags& flags) {
  ASSIGN_OR_RETURN(std::vector<v1::QueueJobRequest> requests, make_requests(flags, session.program, session.io));
  std::vector<v1::ScheduleJobResponse> answers;
  for (v1::QueueJobRequest& request : requests) {
    complete(session, request);
    v1::ScheduleJobRequest preview;
    *preview.mutable_spec() = request.spec();
    preview.set_namespace_(request.namespace_());
    preview.set_template_(request.template_());
    *preview.mutable_parameters() = request.parameters();
    preview.set_dry_run(true);
    ASSIGN_OR_RETURN(v1::ScheduleJobResponse answer, session.client().schedule_job(preview));
    if (!answer.note().empty()) session.note(cat("note: ", answer.note()));
    answers.push_back(std::move(answer));
  }
  std::vector<const google::protobuf::Message*> messages;
  std::string text;
  for (const v1::ScheduleJobResponse& answer : answers) {
    messages.push_back(&answer);
    text += session.form() == OutputForm::Name ? answer.decision().worker_id() + "\n"
                                               : preview_text(answer.decision(), view_options(session));
  }
  if (answers.size() == 1) return session.data_text(answers[0]).value_or(text);
  return session.data_text(messages).value_or(text);
}

void add_job_submit(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("submit", "Queue a job, or the jobs in a file, and print their ids");
  auto flags = std::make_shared<JobFlags>();
  add_job_flags(*command, *flags);
  command->add_flag("--detach", flags->detach, "accepted for symmetry with run; submit never waits");
  command->footer(
      "Put the command after `--`:  hodei job submit --attempts 3 -- make test\n"
      "A file may contain several jobs: YAML documents separated by `---`, a list, or one JSON object per line.");
  command->callback([&session, flags] {
    session.takes_program = true;
    session.action = [&session, flags] {
      return session.show(flags->dry_run ? dry_run_text(session, *flags) : submit_text(session, *flags));
    };
  });
}

}  // namespace hodei::cli

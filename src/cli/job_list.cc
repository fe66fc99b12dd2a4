#include "src/cli/job_list.h"

#include <CLI/CLI.hpp>

#include "src/base/status.h"
#include "src/cli/job_view.h"
#include "src/cli/label_rules.h"
#include "src/cli/quantities.h"
#include "src/cli/repeatable.h"
#include "src/cli/session.h"
#include "src/cli/suggestion.h"

namespace hodei::cli {
namespace {

constexpr int64_t kLargestPage = 1000;
constexpr int64_t kDefaultLimit = 50;

struct ListFlags {
  std::vector<std::string> states, labels;
  std::string name, worker, limit, page;
  bool all = false;
  bool watch = false;
};

absl::StatusOr<v1::Job::State> parse_state(const std::string& text) {
  std::vector<std::string> words;
  for (int i = v1::Job::Pending; i <= v1::Job::Timeout; ++i) {
    const auto state = static_cast<v1::Job::State>(i);
    words.push_back(v1::Job::State_Name(state));
    if (CLI::detail::to_lower(text) == CLI::detail::to_lower(words.back())) return state;
  }
  return bad_field("--state", "'", text,
                   "' is not one of Pending, Scheduled, Running, Succeeded, Failed, Cancelled, Timeout",
                   did_you_mean(text, words));
}

absl::StatusOr<v1::ListJobsRequest> make_list_request(const Session& session, const ListFlags& flags) {
  v1::ListJobsRequest request;
  request.set_namespace_(session.name_space());
  for (const std::string& given : flags.states) {
    for (const std::string& word : split_list(given)) {
      ASSIGN_OR_RETURN(const v1::Job::State state, parse_state(word));
      request.add_states(state);
    }
  }
  ASSIGN_OR_RETURN(const auto labels, parse_key_values("--label", flags.labels));
  request.mutable_labels()->insert(labels.begin(), labels.end());
  request.set_name_contains(flags.name);
  request.set_worker_id(flags.worker);
  request.set_page_token(flags.page);
  return request;
}

// As many pages as it takes; `more` is where the next one would begin.
absl::StatusOr<std::vector<v1::Job>> list(Session& session, const ListFlags& flags, std::string& more) {
  ASSIGN_OR_RETURN(v1::ListJobsRequest request, make_list_request(session, flags));
  int64_t left = flags.all ? INT64_MAX : kDefaultLimit;
  if (!flags.limit.empty()) {
    ASSIGN_OR_RETURN(left, parse_count(flags.limit, 1, INT64_MAX));
  }
  std::vector<v1::Job> jobs;
  do {
    request.set_page_size(static_cast<int32_t>(std::min(left, kLargestPage)));
    ASSIGN_OR_RETURN(v1::ListJobsResponse page, session.client().list_jobs(request));
    left -= page.jobs_size();
    for (v1::Job& job : *page.mutable_jobs()) jobs.push_back(std::move(job));
    request.set_page_token(page.next_page_token());
  } while (left > 0 && !request.page_token().empty());
  more = request.page_token();
  return jobs;
}

absl::StatusOr<std::string> list_text(Session& session, const ListFlags& flags) {
  std::string more;
  ASSIGN_OR_RETURN(const std::vector<v1::Job> jobs, list(session, flags, more));
  std::vector<const google::protobuf::Message*> messages;
  std::vector<const v1::Job*> pointers;
  for (const v1::Job& job : jobs) messages.push_back(&job), pointers.push_back(&job);
  if (!more.empty() && !flags.watch) session.note(cat("there are more: --all, --limit N, or --page ", more));
  if (const auto data = session.data_text(messages)) return *data;
  if (session.form() == OutputForm::Name) {
    std::string names;
    for (const v1::Job& job : jobs) names += job.short_id() + "\n";
    return names;
  }
  if (jobs.empty() && !flags.watch) session.note("no jobs match");
  return job_table(pointers, {session.colours(), session.form() == OutputForm::Wide, session.io.clock->now().wall});
}

}  // namespace

void add_job_list(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("list", "jobs, newest first, finished ones too");
  command->alias("ls");
  auto flags = std::make_shared<ListFlags>();
  repeatable(*command, "--state", flags->states, "only these: Pending, Running, Failed, …")->type_name("STATE");
  repeatable(*command, "-l,--label", flags->labels, "only jobs with this label")->type_name("KEY=VALUE");
  command->add_option("--name", flags->name, "only jobs whose name contains this")->type_name("TEXT");
  command->add_option("--worker", flags->worker, "only jobs of this worker")->type_name("WORKER");
  command->add_option("--limit", flags->limit, "at most this many (50)")->type_name("N");
  command->add_flag("--all", flags->all, "all of them");
  command->add_option("--page", flags->page, "go on where an earlier list ended")->type_name("TOKEN");
  command->add_flag("--watch", flags->watch, "show it again and again");
  command->callback([&session, flags] {
    session.action = [&session, flags] {
      return session.show(flags->watch, [&] { return list_text(session, *flags); });
    };
  });
}

}  // namespace hodei::cli

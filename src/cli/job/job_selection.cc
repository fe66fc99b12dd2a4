#include "src/cli/job/job_selection.h"

#include <CLI/CLI.hpp>

#include "src/base/status.h"
#include "src/cli/flags/flag_values.h"
#include "src/cli/flags/repeatable.h"
#include "src/cli/session/session.h"
#include "src/cli/text/label_rules.h"
#include "src/cli/text/moments.h"
#include "src/cli/text/suggestion.h"
#include "src/cli/worker/worker_lookup.h"

namespace hodei::cli {
namespace {

constexpr int kSelectionPage = 1000;

absl::StatusOr<v1::Job::State> parse_state(const std::string& text) {
  const std::vector<std::string> words = state_names();
  for (size_t i = 0; i < words.size(); ++i) {
    if (CLI::detail::to_lower(text) == CLI::detail::to_lower(words[i])) {
      return static_cast<v1::Job::State>(static_cast<int>(i) + v1::Job::Pending);
    }
  }
  return bad_field("--state", "'", text,
                   "' is not one of Pending, Scheduled, Running, Succeeded, Failed, Cancelled, Timeout",
                   did_you_mean(text, words));
}

absl::Status set_labels(const SelectionFlags& flags, v1::ListJobsRequest& request) {
  for (const std::string& text : flags.labels) {
    ASSIGN_OR_RETURN(const std::vector<v1::LabelRule> rules, parse_selector("--label", text));
    for (const v1::LabelRule& rule : rules) {
      const bool is_equality = rule.operator_() == v1::LabelRule::In && rule.values_size() == 1;
      if (is_equality && request.labels().count(rule.key()) == 0) {
        (*request.mutable_labels())[rule.key()] = rule.values(0);
      } else {
        *request.add_label_rules() = rule;
      }
    }
  }
  return absl::OkStatus();
}

absl::Status set_bound(const Session& session, const char* flag, const std::string& text,
                       google::protobuf::Timestamp* bound) {
  ASSIGN_OR_RETURN(const WallTime time, parse_moment(flag, text, session.io.clock->now().wall, session.utc));
  bound->set_seconds(time.us / 1'000'000);
  bound->set_nanos(static_cast<int>(time.us % 1'000'000) * 1000);
  return absl::OkStatus();
}

}  // namespace

bool SelectionFlags::empty() const {
  return states.empty() && labels.empty() && name.empty() && worker.empty() && since.empty() && until.empty();
}

std::vector<std::string> state_names() {
  std::vector<std::string> words;
  for (int i = v1::Job::Pending; i <= v1::Job::Timeout; ++i) {
    words.push_back(v1::Job::State_Name(static_cast<v1::Job::State>(i)));
  }
  return words;
}

void add_selection_flags(CLI::App& command, SelectionFlags& flags) {
  repeatable(command, "--state", flags.states, "only jobs in these states: Pending, Running, Failed, …")
      ->type_name("STATE");
  repeatable(command, "-l,--label", flags.labels,
             "only jobs with matching labels: 'a=b,c!=d', 'e in (x,y)', 'f notin (z)', 'g', '!h'")
      ->type_name("SELECTOR");
  command.add_option("--name", flags.name, "only jobs whose name contains this")->type_name("TEXT");
  command.add_option("--worker", flags.worker, "only jobs on this worker")->type_name("WORKER");
  command.add_option("--since", flags.since, "only jobs submitted since then: 2h (ago), 2026-11-15T15:04:05Z")
      ->type_name("TIME");
  command.add_option("--until", flags.until, "only jobs submitted before then")->type_name("TIME");
  refuse_empty_values(command);
}

absl::StatusOr<v1::ListJobsRequest> make_list_request(Session& session, const SelectionFlags& flags) {
  v1::ListJobsRequest request;
  request.set_namespace_(session.name_space());
  for (const std::string& given : flags.states) {
    const std::vector<std::string> words = split_list(given);
    // Otherwise nothing would be left of the choice, and every job be meant.
    if (words.empty()) return bad_field("--state", "must not be empty; write --state Failed, or leave it out");
    for (const std::string& word : words) {
      ASSIGN_OR_RETURN(const v1::Job::State state, parse_state(word));
      request.add_states(state);
    }
  }
  RETURN_IF_ERROR(set_labels(flags, request));
  request.set_name_contains(flags.name);
  if (!flags.since.empty()) RETURN_IF_ERROR(set_bound(session, "--since", flags.since, request.mutable_since()));
  if (!flags.until.empty()) RETURN_IF_ERROR(set_bound(session, "--until", flags.until, request.mutable_until()));
  if (!flags.worker.empty()) {
    const absl::StatusOr<std::string> worker = find_worker(session, flags.worker);
    if (!worker.ok() && !absl::IsNotFound(worker.status())) return worker.status();
    request.set_worker_id(worker.value_or(flags.worker));  // jobs outlive the worker that ran them
  }
  return request;
}

absl::StatusOr<std::vector<v1::Job>> list_selected(Session& session, v1::ListJobsRequest request) {
  std::vector<v1::Job> jobs;
  request.set_page_size(kSelectionPage);
  do {
    ASSIGN_OR_RETURN(v1::ListJobsResponse page, session.client().list_jobs(request));
    for (v1::Job& job : *page.mutable_jobs()) jobs.push_back(std::move(job));
    if (jobs.size() > kMostSelected) {
      return absl::ResourceExhaustedError(
          cat("more than ", kMostSelected, " jobs match\nchoose fewer with --label, --state, --since or --until"));
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return jobs;
}

}  // namespace hodei::cli

#include "src/cli/job/job_list.h"

#include <CLI/CLI.hpp>

#include <algorithm>

#include "src/base/status.h"
#include "src/cli/job/job_commands.h"
#include "src/cli/job/job_selection.h"
#include "src/cli/job/job_view.h"
#include "src/cli/session/session.h"
#include "src/cli/text/quantities.h"
#include "src/cli/text/suggestion.h"

namespace hodei::cli {
namespace {

constexpr int64_t kLargestPage = 1000;
constexpr int64_t kDefaultLimit = 50;

struct ListFlags {
  SelectionFlags selection;
  std::string limit, page, sort;
  bool all = false;
  bool watch = false;
};

using Before = bool (*)(const v1::Job& a, const v1::Job& b);

Duration run_time(const v1::Job& job) {
  if (job.has_run_ms()) return std::chrono::milliseconds(job.run_ms());
  return job.has_ended_at() && job.has_started_at() ? wall_time(job.ended_at()) - wall_time(job.started_at())
                                                    : Duration(0);
}

struct SortKey {
  std::string_view name;
  Before before;  // null: the server's own order
};
constexpr SortKey kSortKeys[] = {
    {"created", nullptr},
    {"started",
     [](const v1::Job& a, const v1::Job& b) { return wall_time(a.started_at()) < wall_time(b.started_at()); }},
    {"ended", [](const v1::Job& a, const v1::Job& b) { return wall_time(a.ended_at()) < wall_time(b.ended_at()); }},
    {"time", [](const v1::Job& a, const v1::Job& b) { return run_time(a) < run_time(b); }},
    {"name", [](const v1::Job& a, const v1::Job& b) { return a.name() < b.name(); }},
    {"state", [](const v1::Job& a, const v1::Job& b) { return a.state() < b.state(); }},
    {"exit", [](const v1::Job& a, const v1::Job& b) { return a.exit_code() < b.exit_code(); }},
    {"tries", [](const v1::Job& a, const v1::Job& b) { return a.attempts() < b.attempts(); }},
};

struct Sort {
  const SortKey* key = &kSortKeys[0];
  bool falling = true;
};

absl::StatusOr<Sort> parse_sort(const std::string& text) {
  if (text.empty()) return Sort{};
  const bool falling = text[0] == '-';
  const std::string name = text.substr(falling ? 1 : 0);
  std::vector<std::string> names;
  std::string all;
  for (const SortKey& key : kSortKeys) {
    if (key.name == name) return Sort{&key, falling};
    names.emplace_back(key.name);
    all += cat(all.empty() ? "" : ", ", key.name);
  }
  return bad_field("--sort", "'", text, "' is not one of ", all, ", or -", names[0], " for the other way round",
                   did_you_mean(name, names));
}

absl::StatusOr<int64_t> limit_of(const ListFlags& flags) {
  if (flags.limit.empty()) return flags.all ? INT64_MAX : kDefaultLimit;
  const absl::StatusOr<int64_t> limit = parse_count(flags.limit, 1, INT64_MAX);
  if (!limit.ok()) return bad_field("--limit", std::string(limit.status().message()));
  return limit;
}

// In the server's order: as many pages as it takes; `more` is where the next one would begin.
absl::StatusOr<std::vector<v1::Job>> list(Session& session, v1::ListJobsRequest request, int64_t left,
                                          std::string& more) {
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

// In another order, all that match must be here first.
absl::StatusOr<std::vector<v1::Job>> sorted(Session& session, const v1::ListJobsRequest& request, const Sort& sort,
                                            int64_t limit) {
  ASSIGN_OR_RETURN(std::vector<v1::Job> jobs, list_selected(session, request));
  std::stable_sort(jobs.begin(), jobs.end(), [&](const v1::Job& a, const v1::Job& b) {
    return sort.falling ? sort.key->before(b, a) : sort.key->before(a, b);
  });
  if (static_cast<int64_t>(jobs.size()) > limit) {
    session.note(cat("these are ", limit, " of ", jobs.size(), " jobs: --all or --limit N shows more"));
    jobs.resize(static_cast<size_t>(limit));
  }
  return jobs;
}

absl::StatusOr<std::vector<v1::Job>> listed(Session& session, const ListFlags& flags, std::string& more) {
  ASSIGN_OR_RETURN(const Sort sort, parse_sort(flags.sort));
  ASSIGN_OR_RETURN(const int64_t limit, limit_of(flags));
  if (sort.key->before && !flags.page.empty()) {
    return bad_field("--page", "works only in order of creation, not with --sort ", flags.sort);
  }
  ASSIGN_OR_RETURN(v1::ListJobsRequest request, make_list_request(session, flags.selection));
  request.set_page_token(flags.page);
  if (sort.key->before) return sorted(session, request, sort, limit);
  request.set_oldest_first(!sort.falling);
  return list(session, std::move(request), limit, more);
}

absl::StatusOr<std::string> list_text(Session& session, const ListFlags& flags) {
  std::string more;
  ASSIGN_OR_RETURN(const std::vector<v1::Job> jobs, listed(session, flags, more));
  std::vector<const google::protobuf::Message*> messages;
  std::vector<const v1::Job*> pointers;
  for (const v1::Job& job : jobs) messages.push_back(&job), pointers.push_back(&job);
  if (!more.empty() && !flags.watch) session.note(cat("there are more: use --all, --limit N, or --page ", more));
  if (const auto data = session.data_text(messages)) return *data;
  if (session.form() == OutputForm::Name) {
    std::string names;
    for (const v1::Job& job : jobs) names += job.short_id() + "\n";
    return names;
  }
  if (jobs.empty() && !flags.watch) session.note("no jobs found");
  return job_table(pointers, view_options(session));
}

}  // namespace

void add_job_list(CLI::App& group, Session& session) {
  CLI::App* command = group.add_subcommand("list", "List jobs, newest first, including finished ones");
  command->alias("ls");
  auto flags = std::make_shared<ListFlags>();
  add_selection_flags(*command, flags->selection);
  command
      ->add_option("--sort", flags->sort,
                   "sort by created, started, ended, time, name, state, exit or tries; prefix - for descending order "
                   "(-created)")
      ->type_name("KEY");
  command->add_option("--limit", flags->limit, "maximum number of jobs (50)")->type_name("N");
  command->add_flag("--all", flags->all, "no maximum");
  command->add_option("--page", flags->page, "continue where an earlier list ended")->type_name("TOKEN");
  command->add_flag("--watch", flags->watch, "refresh until you press Ctrl-C");
  command->callback([&session, flags] {
    session.action = [&session, flags] {
      return session.show(flags->watch, [&] { return list_text(session, *flags); });
    };
  });
}

}  // namespace hodei::cli

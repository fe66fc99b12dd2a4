// `hodei top`: workers and what they run, again and again.
#include <CLI/CLI.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "src/base/printable.h"
#include "src/base/status.h"
#include "src/cli/session/session.h"
#include "src/cli/system/top_view.h"
#include "src/cli/terminal/exit_code.h"
#include "src/cli/terminal/terminal_keys.h"

namespace hodei::cli {
namespace {

constexpr Duration kRefresh = 2s;
constexpr Duration kComeBack = 1s;
constexpr int kMaxJobs = 50;
constexpr const char* kHomeAndClear = "\x1b[H\x1b[2J";

// The newest samples, fed by a thread that follows the stream.
class LiveSamples {
 public:
  explicit LiveSamples(Client& client)
      : thread_([this, &client](const std::stop_token& stop) { follow(client, stop); }) {}

  void add_to(TopData& data) {
    const std::lock_guard lock(mutex_);
    data.of_workers = of_workers_;
    data.of_jobs = of_jobs_;
  }

 private:
  void follow(Client& client, const std::stop_token& stop) {
    v1::StreamMetricsRequest request;
    request.set_jobs(true);
    while (!stop.stop_requested()) {
      // An error is the page's to show: it asks the same server.
      client
          .stream_metrics(
              request, [this](const v1::MetricSample& sample) { return take(sample); }, stop)
          .IgnoreError();
      std::unique_lock lock(mutex_);
      ended_.wait_for(lock, stop, kComeBack, [] { return false; });
    }
  }

  bool take(const v1::MetricSample& sample) {
    const std::lock_guard lock(mutex_);
    (sample.job_id().empty() ? of_workers_[sample.worker_id()] : of_jobs_[sample.job_id()]) = sample;
    // Jobs come and go; those that still run tell of themselves again.
    if (of_jobs_.size() > size_t{100} * kMaxJobs) of_jobs_.clear();
    return true;
  }

  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::map<std::string, v1::MetricSample> of_workers_, of_jobs_;
  std::jthread thread_;  // last: it uses the rest
};

absl::StatusOr<TopData> fetch(Session& session) {
  TopData data;
  ASSIGN_OR_RETURN(data.queue, session.client().queue_status());
  ASSIGN_OR_RETURN(data.workers, session.client().list_workers({}));
  v1::ListJobsRequest jobs;
  jobs.set_namespace_(session.name_space());
  jobs.add_states(v1::Job::Running);
  jobs.add_states(v1::Job::Scheduled);
  jobs.set_page_size(kMaxJobs);
  ASSIGN_OR_RETURN(data.jobs, session.client().list_jobs(jobs));
  return data;
}

std::string page_of(const Session& session, const TopData& data) {
  return top_page(data, {.style = session.style(), .now = session.io.clock->now().wall});
}

int show_once(Session& session) {
  const absl::StatusOr<TopData> data = fetch(session);
  if (!data.ok()) return session.fail(data.status());
  if (const auto text = session.data_text({&data->queue, &data->workers, &data->jobs})) return session.show(*text);
  if (session.form() != OutputForm::Name) return session.show(page_of(session, *data));
  std::string names;
  for (const v1::Job& job : data->jobs.jobs()) names += job.short_id() + "\n";
  return session.show(names);
}

int show_live(Session& session) {
  const TerminalKeys keys;
  LiveSamples live(session.client());
  while (true) {
    absl::StatusOr<TopData> data = fetch(session);
    // Someone who watches wants to see the server come back, too.
    if (!data.ok() && !absl::IsUnavailable(data.status())) return session.fail(data.status());
    if (data.ok()) live.add_to(*data);
    const std::string text = data.ok() ? page_of(session, *data) : cat(std::string(data.status().message()), "\n");
    if (!session.io.out(cat(kHomeAndClear, printable_painted(text), "\npress q to quit\n"))) return kOk;
    const bool ends = keys.is_terminal() ? keys.wants_to_leave_within(kRefresh) : !session.io.pause(kRefresh);
    if (ends) return kOk;
  }
}

}  // namespace

void add_top_commands(CLI::App& root, Session& session) {
  CLI::App* command = root.add_subcommand("top", "Show workers and what they run, refreshed every 2 s (quit with q)");
  auto once = std::make_shared<bool>(false);
  command->add_flag("--once", *once, "print once and exit (always the case when the output is not a terminal)");
  command->callback([&session, once] {
    session.action = [&session, once] {
      const bool is_data = session.form() != OutputForm::Table && session.form() != OutputForm::Wide;
      return *once || is_data || !session.io.out_is_terminal ? show_once(session) : show_live(session);
    };
  });
}

}  // namespace hodei::cli

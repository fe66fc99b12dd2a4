#include "src/server/job_sweeper.h"

#include <algorithm>
#include <future>

#include "src/base/counted.h"
#include "src/base/journal.h"
#include "src/base/status.h"

namespace hodei::server {
namespace {

// Deleted in one commit, for which everybody waits.
constexpr size_t kAtOnce = 200;
static_assert(kAtOnce <= core::kMaxForgottenAtOnce);

// How long the loop may take over one command before the rest is left to the next sweep.
constexpr Duration kLoopPatience = 10s;

}  // namespace

void JobSweeper::start() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = false;
  }
  started_ = clock_.now().mono;
  thread_ = std::thread([this] { run(); });
}

void JobSweeper::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool JobSweeper::is_stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void JobSweeper::run() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, kEvery, [this] { return stopping_; })) return;
    }
    const absl::StatusOr<int64_t> gone = sweep();
    if (!gone.ok())
      journal(Level::Warn, "server", "cannot remove finished jobs: ", std::string(gone.status().message()));
    if (gone.ok() && *gone > 0)
      journal(Level::Info, "server", counted(*gone, "finished job"),
              " removed: past job_retention_age or job_retention_count");
  }
}

absl::StatusOr<int64_t> JobSweeper::sweep() {
  ASSIGN_OR_RETURN(const auto counts, reader_.finished_counts());
  int64_t finished = 0;
  for (const auto& [ns, count] : counts) finished += count;
  ASSIGN_OR_RETURN(int64_t gone, sweep_by_age(finished));
  if (retention_.max_jobs <= 0) return gone;
  for (const auto& [ns, count] : counts) {
    if (count <= retention_.max_jobs) continue;
    ASSIGN_OR_RETURN(const int64_t more, sweep_by_count(ns, std::min(count - retention_.max_jobs, kMostByCount)));
    gone += more;
  }
  return gone;
}

// Old jobs are the first by number, but for those that took long: every other sweep walks through all.
absl::StatusOr<int64_t> JobSweeper::sweep_by_age(int64_t finished) {
  const Now now = clock_.now();
  if (retention_.max_age <= Duration(0) || now.mono - started_ < kGrace) return 0;
  const WallTime before = now.wall - retention_.max_age;
  const bool walks = ++sweeps_ % 2 == 0;
  ASSIGN_OR_RETURN(std::vector<store::FinishedJob> jobs, reader_.finished(walks ? walked_ : JobId{}, kLooks));
  if (walks) walked_ = jobs.size() < kLooks ? JobId{} : jobs.back().job;
  std::erase_if(jobs, [&](const store::FinishedJob& job) { return job.ended >= before; });
  const auto most = static_cast<size_t>(std::max(kAlwaysByAge, finished / kShareByAge));
  if (jobs.size() > most) jobs.resize(most);
  RETURN_IF_ERROR(let_go(jobs));
  return static_cast<int64_t>(jobs.size());
}

absl::StatusOr<int64_t> JobSweeper::sweep_by_count(const std::string& ns, int64_t too_many) {
  ASSIGN_OR_RETURN(const std::vector<store::FinishedJob> jobs,
                   reader_.oldest_finished(ns, static_cast<size_t>(too_many)));
  RETURN_IF_ERROR(let_go(jobs));
  return static_cast<int64_t>(jobs.size());
}

absl::Status JobSweeper::let_go(const std::vector<store::FinishedJob>& jobs) {
  for (size_t at = 0; at < jobs.size() && !is_stopping(); at += kAtOnce) {
    core::ForgetJobs command;
    for (size_t i = at; i < std::min(jobs.size(), at + kAtOnce); ++i) command.jobs.push_back({jobs[i].job, jobs[i].ns});
    auto answer = std::make_shared<std::promise<absl::Status>>();
    std::future<absl::Status> done = answer->get_future();
    forget_(std::move(command), [answer](absl::StatusOr<core::Reply> reply) { answer->set_value(reply.status()); });
    if (done.wait_for(kLoopPatience) != std::future_status::ready) return absl::UnavailableError("the server is busy");
    RETURN_IF_ERROR(done.get());
  }
  return absl::OkStatus();
}

}  // namespace hodei::server

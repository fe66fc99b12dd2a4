#include "src/server/input/job_inputs.h"

#include <filesystem>
#include <vector>

#include "src/base/status.h"

namespace hodei::server {

namespace fs = std::filesystem;

absl::StatusOr<std::unique_ptr<JobInputs>> JobInputs::open(const std::string& folder, InputLimits limits,
                                                           const Clock& clock) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return absl::UnavailableError(cat(folder, ": cannot be created: ", failed.message()));
  auto store = std::make_shared<InputStoreFacts>();
  store->folder = folder;
  store->limits = limits;
  std::unique_ptr<JobInputs> inputs(new JobInputs(store, clock));
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    const std::string name = it->path().filename().string();
    const absl::StatusOr<JobId> job = parse_job_id(name.substr(0, name.find('.')));
    if (!job.ok()) continue;
    if (auto spool = InputSpool::found(store, *job, name, clock.now().mono)) inputs->spools_[*job] = std::move(spool);
  }
  if (failed) return absl::UnavailableError(cat(folder, ": cannot be read: ", failed.message()));
  return inputs;
}

void JobInputs::keep_only(const std::function<bool(JobId)>& is_live) {
  std::vector<JobId> jobs;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [job, spool] : spools_) jobs.push_back(job);
  }
  for (const JobId job : jobs) {
    if (is_live(job)) continue;
    if (const auto spool = let_go(job)) spool->remove();
  }
}

absl::StatusOr<std::shared_ptr<InputSpool>> JobInputs::of(JobId job) {
  const std::lock_guard lock(mutex_);
  const auto it = spools_.find(job);
  if (it != spools_.end()) return it->second;
  if (spools_.size() >= kMaxInputs) {
    return absl::ResourceExhaustedError(
        cat("there are ", kMaxInputs, " jobs with a standard input already; it is sent when one of them has ended"));
  }
  return spools_[job] = std::make_shared<InputSpool>(store_, job, clock_.now().mono);
}

std::shared_ptr<InputSpool> JobInputs::find(JobId job) const {
  const std::lock_guard lock(mutex_);
  const auto it = spools_.find(job);
  return it == spools_.end() ? nullptr : it->second;
}

std::string JobInputs::prepare_start(JobId job) {
  const std::shared_ptr<InputSpool> spool = find(job);
  return spool == nullptr ? std::string() : spool->prepare_start();
}

std::string JobInputs::trouble(JobId job) const {
  const std::shared_ptr<InputSpool> spool = find(job);
  return spool == nullptr ? std::string() : spool->trouble();
}

bool JobInputs::empty() const {
  const std::lock_guard lock(mutex_);
  return spools_.empty();
}

std::shared_ptr<InputSpool> JobInputs::let_go(JobId job) {
  const std::lock_guard lock(mutex_);
  const auto it = spools_.find(job);
  if (it == spools_.end()) return nullptr;
  std::shared_ptr<InputSpool> spool = std::move(it->second);
  spools_.erase(it);
  return spool;
}

void JobInputs::tick() {
  const MonoTime now = clock_.now().mono;
  std::vector<std::shared_ptr<InputSpool>> abandoned;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [job, spool] : spools_) {
      if (spool->is_abandoned(now)) abandoned.push_back(spool);
    }
  }
  for (const auto& spool : abandoned) spool->break_off();
}

}  // namespace hodei::server

#include "src/providers/conformance/probe.h"

#include <algorithm>

#include "src/base/pause.h"

namespace hodei::providers {
namespace {

constexpr Duration kBetweenLooks = 5ms;
constexpr const char* kToken = "conformance-token-3f9a1c";

}  // namespace

std::string_view name(WorkerPhase phase) {
  switch (phase) {
    case WorkerPhase::Starting: return "Starting";
    case WorkerPhase::Running: return "Running";
    case WorkerPhase::Ended: return "Ended";
    case WorkerPhase::Gone: return "Gone";
  }
  return "?";
}

Probe::Probe(const SuiteSetup& setup, std::string check, int number)
    : setup_(setup), check_(std::move(check)), number_(number) {
  provider_ = make(setup.installation);
}

std::unique_ptr<Provider> Probe::make(const Installation& installation) {
  absl::StatusOr<std::unique_ptr<Provider>> made = setup_.make(installation);
  if (made.ok() && *made != nullptr) return std::move(*made);
  wrong("the provider cannot be made: ", made.ok() ? "null" : made.status().ToString());
  return nullptr;
}

void Probe::restart() {
  provider_.reset();
  provider_ = make(setup_.installation);
}

WorkerSpec Probe::spec(int n) {
  WorkerSpec out = setup_.spec;
  out.worker_id = cat(out.worker_id.empty() ? "suite" : out.worker_id, "-", number_, "-", n);
  if (out.token.empty()) out.token = kToken;
  made_.insert(out.worker_id);
  return out;
}

std::optional<WorkerHandle> Probe::create(const WorkerSpec& spec) {
  const absl::StatusOr<WorkerHandle> made = provider_->create_worker(spec);
  if (!made.ok()) {
    wrong("create_worker of ", spec.worker_id, ": ", made.status().ToString());
    return std::nullopt;
  }
  if (made->worker_id != spec.worker_id) {
    wrong("create_worker of ", spec.worker_id, " answered with a handle of '", made->worker_id, "'");
  }
  expect_no_token(cat(made->worker_id, " ", made->id), "the handle");
  return *made;
}

std::optional<WorkerStatus> Probe::status(const WorkerHandle& handle) {
  const absl::StatusOr<WorkerStatus> said = provider_->worker_status(handle);
  if (said.ok()) {
    expect_no_token(said->reason, "the status");
    return *said;
  }
  wrong("worker_status of ", handle.worker_id, ": ", said.status().ToString());
  return std::nullopt;
}

bool Probe::reaches(const WorkerHandle& handle, std::set<WorkerPhase> wanted) {
  const SystemClock clock;
  const MonoTime limit = clock.now().mono + setup_.patience;
  const bool coming_up = wanted == std::set{WorkerPhase::Running};
  while (true) {
    const std::optional<WorkerStatus> now = status(handle);
    if (!now) return false;
    if (wanted.contains(now->phase)) return true;
    const bool lost = coming_up && (now->phase != WorkerPhase::Starting || now->hopeless);
    if (lost || clock.now().mono > limit) {
      std::string names;
      for (const WorkerPhase phase : wanted) names += cat(names.empty() ? "" : " or ", name(phase));
      wrong(handle.worker_id, " is ", name(now->phase), now->hopeless ? " and hopeless" : "",
            now->reason.empty() ? "" : cat(" (", now->reason, ")"), ", expected ", names);
      return false;
    }
    pause_for(kBetweenLooks);  // providers need not watch
  }
}

bool Probe::runs(const WorkerHandle& handle) { return reaches(handle, {WorkerPhase::Running}); }

std::vector<OwnedWorker> Probe::list() {
  absl::StatusOr<std::vector<OwnedWorker>> all = provider_->list_workers();
  if (all.ok()) return std::move(*all);
  wrong("list_workers: ", all.status().ToString());
  return {};
}

bool Probe::destroy(const WorkerHandle& handle) {
  const absl::Status done = provider_->destroy_worker(handle);
  if (!done.ok()) wrong("destroy_worker of ", handle.worker_id, ": ", done.ToString());
  return done.ok();
}

bool Probe::outside_shows(const std::string& worker_id) {
  const std::vector<std::string> things = setup_.outside();
  return std::any_of(things.begin(), things.end(),
                     [&](const std::string& thing) { return thing.find(worker_id) != thing.npos; });
}

void Probe::expect_listed(const std::string& worker_id, const std::string& when) {
  const std::vector<OwnedWorker> all = list();
  const auto times =
      std::count_if(all.begin(), all.end(), [&](const OwnedWorker& one) { return one.handle.worker_id == worker_id; });
  if (times != 1) wrong("list_workers shows ", worker_id, " ", times, " times, expected once: ", when);
  for (const OwnedWorker& one : all) expect_no_token(cat(one.handle.worker_id, " ", one.handle.id), "the list");
  if (setup_.outside && !outside_shows(worker_id)) wrong(worker_id, " is not there, though it should be: ", when);
}

void Probe::expect_nothing_of(const std::string& worker_id, const std::string& when) {
  for (const OwnedWorker& one : list()) {
    if (one.handle.worker_id == worker_id)
      wrong("list_workers still shows ", worker_id, " (", name(one.status.phase), "): ", when);
  }
  const std::optional<WorkerStatus> now = status({.worker_id = worker_id, .id = {}});
  if (now && now->phase != WorkerPhase::Gone) wrong(worker_id, " is ", name(now->phase), ", expected Gone: ", when);
  if (!setup_.outside) return;
  for (const std::string& thing : setup_.outside()) {
    if (thing.find(worker_id) != std::string::npos) wrong("left behind: ", thing, ": ", when);
  }
}

void Probe::expect_no_token(const std::string& text, const std::string& where) {
  const std::string token = setup_.spec.token.empty() ? kToken : setup_.spec.token;
  if (text.find(token) != std::string::npos) wrong("the token is in ", where);
}

std::vector<Finding> Probe::finish() {
  if (provider_ != nullptr) {
    for (const std::string& worker_id : made_) {
      destroy({.worker_id = worker_id, .id = {}});
      expect_nothing_of(worker_id, "at the end of the check");
    }
  }
  provider_.reset();
  return std::move(findings_);
}

}  // namespace hodei::providers

#include "src/providers/conformance/fake_provider.h"

#include <thread>

namespace hodei::providers {

FakeEngine::Thing* FakeProvider::find(const WorkerHandle& handle) {
  if (handle.id.empty() && fault_ == Fault::NeedsTheHandleId) return nullptr;
  for (auto& [id, thing] : engine_.all) {
    if (thing.worker_id == handle.worker_id && mine(thing)) return &thing;
  }
  return nullptr;
}

uint32_t FakeProvider::there() const {
  uint32_t count = 0;
  for (const auto& [id, thing] : engine_.all) count += mine(thing) ? 1 : 0;
  return fault_ == Fault::KeepsRoom ? taken_ : count;
}

WorkerStatus FakeProvider::look(FakeEngine::Thing& thing) const {
  if (fault_ == Fault::NeverRuns) return {.phase = WorkerPhase::Starting};
  if (thing.ended && fault_ != Fault::SaysRunningForEver) return {.phase = WorkerPhase::Ended, .reason = "killed"};
  if (fault_ == Fault::SaysGoneTooSoon && thing.looks > 1) return {.phase = WorkerPhase::Gone};
  return {.phase = thing.looks++ == 0 ? WorkerPhase::Starting : WorkerPhase::Running};
}

absl::StatusOr<WorkerHandle> FakeProvider::create_worker(const WorkerSpec& spec) {
  if (!spec.image.empty() && fault_ != Fault::TakesAnyImage) return absl::NotFoundError(cat("no image ", spec.image));
  const std::scoped_lock lock(engine_.mutex);
  if (FakeEngine::Thing* thing = find({spec.worker_id, "x"}); thing != nullptr && fault_ != Fault::MakesTwice) {
    return WorkerHandle{spec.worker_id, thing->id};
  }
  // One that races has looked before the one before it was made.
  const uint32_t before = std::exchange(last_look_, there());
  const uint32_t count = fault_ == Fault::RacesItsLimit ? before : there();
  if (room_ != 0 && count >= room_ && fault_ != Fault::IgnoresItsLimit) {
    if (fault_ == Fault::WrongErrorWhenFull) return absl::UnavailableError("full");
    return absl::ResourceExhaustedError(cat(room_, " workers are there already"));
  }
  const std::string id = cat("thing-", ++engine_.made, fault_ == Fault::TellsTheToken ? spec.token : "");
  engine_.all[id] = {.installation = installation_.id, .worker_id = spec.worker_id, .id = id, .token = spec.token};
  ++taken_;
  remembered_.insert(spec.worker_id);
  return WorkerHandle{spec.worker_id, id};
}

absl::StatusOr<WorkerStatus> FakeProvider::worker_status(const WorkerHandle& handle) {
  const std::scoped_lock lock(engine_.mutex);
  FakeEngine::Thing* thing = find(handle);
  if (thing == nullptr && fault_ == Fault::ErrorForUnknown) return absl::NotFoundError("no such worker");
  return thing == nullptr ? WorkerStatus{} : look(*thing);
}

absl::Status FakeProvider::destroy_worker(const WorkerHandle& handle) {
  const std::scoped_lock lock(engine_.mutex);
  FakeEngine::Thing* thing = find(handle);
  if (thing == nullptr) {
    return fault_ == Fault::FailsTheSecondDestroy ? absl::NotFoundError("no such worker") : absl::OkStatus();
  }
  if (fault_ == Fault::Leaks) return absl::OkStatus();
  if (fault_ == Fault::ForgetsAndLeaks) {
    thing->forgotten = true;
  } else {
    engine_.all.erase(thing->id);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> FakeProvider::worker_logs(const WorkerHandle& handle, size_t tail) {
  const std::scoped_lock lock(engine_.mutex);
  const FakeEngine::Thing* thing = find(handle);
  if (thing == nullptr) return absl::NotFoundError("no such worker");
  if (tail == 1 && fault_ != Fault::LogsTooMuch) return "second\n";
  return fault_ == Fault::TellsTheToken ? cat("token ", thing->token, "\n") : "first\nsecond\n";
}

absl::StatusOr<std::vector<OwnedWorker>> FakeProvider::list_workers() {
  const std::scoped_lock lock(engine_.mutex);
  std::vector<OwnedWorker> out;
  for (auto& [id, thing] : engine_.all) {
    const bool known = fault_ != Fault::ForgetsAtRestart || remembered_.contains(thing.worker_id);
    if (mine(thing) && known) out.push_back({.handle = {thing.worker_id, id}, .status = look(thing)});
  }
  return out;
}

}  // namespace hodei::providers

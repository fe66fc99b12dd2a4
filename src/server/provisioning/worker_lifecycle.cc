#include "src/server/provisioning/worker_lifecycle.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/server/provisioning/worker_terms.h"

namespace hodei::server {
namespace {

using Step = MadeWorker::Step;

Duration back_off(uint32_t tries) {
  return std::min<Duration>(500ms * (int64_t{1} << std::min(tries, 10u)), WorkerLifecycle::kLongestBackOff);
}

}  // namespace

void WorkerLifecycle::create(const core::WorkerRecordPtr& record) {
  const WorkerId& id = record->info.id;
  MadeWorkers& workers = *parts_.workers;
  std::string made_already;
  bool full = false;
  {
    const std::lock_guard lock(workers.mutex);
    if (workers.ending) return;  // the next server finds it recorded, and not made
    const auto [it, is_new] = workers.by_id.try_emplace(id);
    MadeWorker& worker = it->second;
    if (!is_new) {
      // Asked again, as by an engine that was loaded anew.
      if (worker.step != Step::There) return;
      made_already = worker.handle;
      worker.record = record;
    } else {
      worker.record = record;
      worker.asked = parts_.clock.now().mono;
      full = !creators_.add([self = shared_from_this(), id] { self->make(id); });
      if (full) workers.by_id.erase(it);
    }
  }
  if (!made_already.empty()) parts_.reports->still_there(id, made_already);
  if (full) {
    parts_.reports->failed(id, parts_.clock.now().mono, core::MakingFailure::Room,
                           cat(kMaxWaiting, " workers are already waiting to be created by this provider"));
  }
}

void WorkerLifecycle::make(const WorkerId& id) {
  core::WorkerRecordPtr record;
  {
    const std::lock_guard lock(parts_.workers->mutex);
    const auto it = parts_.workers->by_id.find(id);
    if (it == parts_.workers->by_id.end() || it->second.step != Step::Queued) return;
    it->second.step = Step::Creating;
    record = it->second.record;
  }
  made(id, ask_provider(*record));
}

absl::StatusOr<providers::WorkerHandle> WorkerLifecycle::ask_provider(const core::WorkerRecord& record) {
  providers::WorkerSpec spec = spec_of(record, parts_.current->server_address());
  ASSIGN_OR_RETURN(const ProviderPtr provider, parts_.current->get());
  RETURN_IF_ERROR(parts_.current->open_worker_ports(*provider));
  ASSIGN_OR_RETURN(spec.token, parts_.make_token(record.info.id));
  return provider->create_worker(spec);
}

void WorkerLifecycle::made(const WorkerId& id, const absl::StatusOr<providers::WorkerHandle>& handle) {
  bool is_unwanted = false;
  MonoTime asked{0};
  {
    const std::lock_guard lock(parts_.workers->mutex);
    const auto it = parts_.workers->by_id.find(id);
    if (it == parts_.workers->by_id.end()) return;  // closed
    MadeWorker& worker = it->second;
    asked = worker.asked;
    if (handle.ok()) worker.handle = handle->id;
    is_unwanted = worker.destroy_wanted;
    if (is_unwanted) {
      worker.step = Step::ToDestroy;
    } else if (handle.ok()) {
      worker.step = Step::There;
      parts_.looks->add(id, worker);
    } else {
      parts_.workers->by_id.erase(it);
    }
  }
  // Whether it came to be or not: something may have stayed behind.
  if (is_unwanted) return queue_destroy(id);
  if (handle.ok()) return parts_.reports->made(id, handle->id, asked);
  parts_.reports->failed(id, asked, failure_of(handle.status()), std::string(handle.status().message()));
}

void WorkerLifecycle::registered(const WorkerId& id) {
  MonoTime asked{0};
  {
    const std::lock_guard lock(parts_.workers->mutex);
    const auto it = parts_.workers->by_id.find(id);
    if (it == parts_.workers->by_id.end() || it->second.registered) return;
    MadeWorker& worker = it->second;
    worker.registered = true;
    if (worker.step == Step::There) worker.due = parts_.clock.now().mono + WorkerLooks::kAtRegisteredEvery;
    if (worker.record == nullptr) return;
    asked = worker.asked;
  }
  parts_.reports->registered(id, asked);
}

void WorkerLifecycle::destroy(const WorkerId& id, const std::string& handle) {
  {
    const std::lock_guard lock(parts_.workers->mutex);
    MadeWorker& worker = parts_.workers->by_id[id];
    if (worker.handle.empty()) worker.handle = handle;
    if (!worker.asked.is_set()) worker.asked = parts_.clock.now().mono;
    if (worker.step == Step::ToDestroy || worker.step == Step::Destroying) return;
    if (worker.step == Step::Creating) {
      worker.destroy_wanted = true;
      return;
    }
    worker.step = Step::ToDestroy;  // one that was only queued is never made
    worker.due = kNever;
  }
  queue_destroy(id);
}

void WorkerLifecycle::queue_destroy(const WorkerId& id) {
  if (destroyers_.add([self = shared_from_this(), id] { self->end(id); })) return;
  const std::lock_guard lock(parts_.workers->mutex);
  const auto it = parts_.workers->by_id.find(id);
  if (it != parts_.workers->by_id.end()) it->second.due = parts_.clock.now().mono + 1s;
}

void WorkerLifecycle::end(const WorkerId& id) {
  MadeWorkers& workers = *parts_.workers;
  providers::WorkerHandle handle{id.str(), ""};
  MonoTime asked{0};
  {
    const std::lock_guard lock(workers.mutex);
    const auto it = workers.by_id.find(id);
    if (it == workers.by_id.end() || it->second.step != Step::ToDestroy) return;
    it->second.step = Step::Destroying;
    it->second.due = kNever;
    handle.id = it->second.handle;
    asked = it->second.asked;
  }
  const absl::StatusOr<ProviderPtr> provider = parts_.current->get();
  const absl::Status done = provider.ok() ? (*provider)->destroy_worker(handle) : provider.status();
  uint32_t tries = 0;
  {
    const std::lock_guard lock(workers.mutex);
    const auto it = workers.by_id.find(id);
    if (it == workers.by_id.end()) return;
    if (done.ok()) {
      workers.by_id.erase(it);
      if (workers.by_id.empty()) workers.emptied.notify_all();
    } else {
      it->second.step = Step::ToDestroy;
      it->second.due = parts_.clock.now().mono + back_off(it->second.tries);
      tries = ++it->second.tries;
    }
  }
  if (done.ok()) return parts_.reports->destroyed(id, asked);
  parts_.reports->not_destroyed(id, tries, done);
}

MonoTime WorkerLifecycle::tick(MonoTime now) {
  std::vector<WorkerId> to_destroy;
  MonoTime next = kNever;
  {
    const std::lock_guard lock(parts_.workers->mutex);
    for (auto& [id, worker] : parts_.workers->by_id) {
      if (worker.due <= now && worker.step == Step::There) parts_.looks->add(id, worker);
      if (worker.due <= now && worker.step == Step::ToDestroy) {
        worker.due = kNever;
        to_destroy.push_back(id);
      }
      next = std::min(next, worker.due);
    }
  }
  for (const WorkerId& id : to_destroy) queue_destroy(id);
  return next;
}

void WorkerLifecycle::create_no_more() {
  const std::lock_guard lock(parts_.workers->mutex);
  parts_.workers->ending = true;
}

void WorkerLifecycle::destroy_all() {
  std::vector<WorkerId> all;
  {
    const std::lock_guard lock(parts_.workers->mutex);
    parts_.workers->ending = true;
    for (const auto& [id, worker] : parts_.workers->by_id) all.push_back(id);
  }
  for (const WorkerId& id : all) destroy(id, "");
}

bool WorkerLifecycle::wait_until_empty(std::chrono::system_clock::time_point give_up) {
  MadeWorkers& workers = *parts_.workers;
  std::unique_lock lock(workers.mutex);
  return workers.emptied.wait_until(lock, give_up, [&workers] { return workers.by_id.empty(); });
}

void WorkerLifecycle::stop(const std::function<Duration()>& patience) {
  creators_.stop(patience());
  destroyers_.stop(patience());
}

}  // namespace hodei::server

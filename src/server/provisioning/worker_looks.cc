#include "src/server/provisioning/worker_looks.h"

#include <utility>

#include "src/base/status.h"

namespace hodei::server {

using providers::WorkerPhase;

WorkerLooks::WorkerLooks(const Clock& clock, std::shared_ptr<CurrentProvider> current,
                         std::shared_ptr<MadeWorkers> workers, std::shared_ptr<MakingReports> reports)
    : clock_(clock), current_(std::move(current)), workers_(std::move(workers)), reports_(std::move(reports)) {}

void WorkerLooks::add(const WorkerId& id, MadeWorker& worker) {
  worker.due = clock_.now().mono + (worker.registered ? kAtRegisteredEvery : kEvery);
  if (worker.looking) {
    worker.look_again = true;
    return;
  }
  worker.looking = threads_.add([self = shared_from_this(), id] { self->look(id); });
}

void WorkerLooks::changed(const std::string& worker) {
  const std::lock_guard lock(workers_->mutex);
  const auto it = workers_->by_id.find(WorkerId(worker));
  if (it != workers_->by_id.end() && it->second.step == MadeWorker::Step::There) add(it->first, it->second);
}

void WorkerLooks::look(const WorkerId& id) {
  providers::WorkerHandle handle{id.str(), ""};
  {
    const std::lock_guard lock(workers_->mutex);
    const auto it = workers_->by_id.find(id);
    if (it == workers_->by_id.end()) return;
    it->second.look_again = false;
    handle.id = it->second.handle;
  }
  const absl::StatusOr<ProviderPtr> asked = current_->get();
  if (!asked.ok()) return take_status(id, asked.status());
  take_status(id, (*asked)->worker_status(handle));
}

// Why it is not there yet, for people. One that runs and is not heard of does not find the server.
std::string WorkerLooks::held_up_words(const providers::WorkerStatus& status, const MadeWorker& worker) const {
  if (status.phase == WorkerPhase::Starting) return status.reason;
  if (status.phase != WorkerPhase::Running || worker.runs_since == kNever) return {};
  if (clock_.now().mono - worker.runs_since < kQuietBefore) return {};
  const std::string address = current_->server_address();
  const bool loopback =
      address.starts_with("127.") || address.starts_with("localhost:") || address.starts_with("[::1]");
  return cat("it is running but has not registered for ", kQuietBefore / 1s, " s; it tries to reach this server at ",
             address,
             loopback ? ", which only this machine can reach: start the server with --listen 0.0.0.0:PORT, or set "
                        "--advertise HOST:PORT to an address that workers can reach"
                      : "; can it be reached from there?");
}

void WorkerLooks::take_status(const WorkerId& id, const absl::StatusOr<providers::WorkerStatus>& status) {
  bool runs = false, is_over = false, was_registered = false, is_news = false;
  MonoTime asked{0};
  std::string held_up;
  {
    const std::lock_guard lock(workers_->mutex);
    const auto it = workers_->by_id.find(id);
    if (it == workers_->by_id.end()) return;
    MadeWorker& worker = it->second;
    worker.looking = false;
    if (worker.step != MadeWorker::Step::There) return;
    if (worker.look_again) add(id, worker);
    if (!status.ok()) return;  // the provider cannot tell now
    asked = worker.asked;
    was_registered = worker.registered;
    is_over = status->phase == WorkerPhase::Ended || status->phase == WorkerPhase::Gone ||
              (status->phase == WorkerPhase::Starting && status->hopeless);
    runs = status->phase == WorkerPhase::Running && !worker.runs_told;
    worker.runs_told |= runs;
    if (runs) worker.runs_since = clock_.now().mono;
    held_up = held_up_words(*status, worker);
    is_news = !worker.registered && worker.held_up != held_up;
    if (is_news) worker.held_up = held_up;
    // Found again by the next inventory when something of it is left and the engine does not want it destroyed.
    if (is_over) workers_->by_id.erase(it);
  }
  if (runs) reports_->runs(id);
  if (is_news && !is_over) reports_->held_up(id, held_up);
  if (!is_over) return;
  const std::string why = !status->reason.empty()              ? status->reason
                          : status->phase == WorkerPhase::Gone ? "it disappeared unexpectedly"
                                                               : "it ended on its own";
  if (was_registered) return reports_->ended(id, why);
  reports_->failed(
      id, asked, status->phase == WorkerPhase::Starting ? core::MakingFailure::Hopeless : core::MakingFailure::Trouble,
      why);
}

void WorkerLooks::adopt(const std::vector<providers::OwnedWorker>& owned) {
  const std::lock_guard lock(workers_->mutex);
  if (!current_->get().ok()) return;  // closed meanwhile
  for (const providers::OwnedWorker& one : owned) {
    const auto [it, is_new] = workers_->by_id.try_emplace(WorkerId(one.handle.worker_id));
    if (!is_new) continue;
    it->second.step = MadeWorker::Step::There;
    it->second.handle = one.handle.id;
    it->second.asked = clock_.now().mono;
    it->second.due = clock_.now().mono + kEvery;
    it->second.registered = true;  // or the engine's deadline ends it: no need to look every second
  }
}

void WorkerLooks::read_log(const WorkerId& worker, const std::string& handle, size_t tail, LogsTo done) {
  const auto read = [current = current_, worker, handle, tail, done] {
    const absl::StatusOr<ProviderPtr> asked = current->get();
    if (!asked.ok()) return done(asked.status());
    absl::StatusOr<std::string> text = (*asked)->worker_logs({worker.str(), handle}, tail);
    if (text.ok() && text->size() > kMaxLogBytes) text->erase(0, text->size() - kMaxLogBytes);
    done(std::move(text));
  };
  if (!threads_.add(read))
    done(absl::ResourceExhaustedError("too many requests to this provider are in progress; try again in a moment"));
}

}  // namespace hodei::server

#include "src/worker/supervisor/spawn_pool.h"

#include <signal.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>

#include "src/base/status.h"
#include "src/worker/supervisor/secret_files.h"
#include "src/worker/system/journal.h"
#include "src/worker/system/shortage.h"

extern char** environ;

namespace hodei::worker {
namespace {

absl::Status set_limits(const SpawnOrder& order) {
  const ProgramLimits& limits = order.program.limits;
  RETURN_IF_ERROR(order.place->enclosure->limit_processes(limits.pids));
  return order.place->group ? order.place->group->begin(limits) : absl::OkStatus();
}

// Rather not at all than without its limits.
SpawnResult not_limited(const absl::Status& why) {
  return not_started_here(cat("resources: the limits cannot be set: ", std::string(why.message())));
}

}  // namespace

SpawnPool::SpawnPool(size_t threads, std::string mark)
    : thread_count_(std::max<size_t>(threads, 2)), mark_(std::move(mark)), inherited_(environ) {}

absl::Status SpawnPool::start() {
  ready_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!ready_.is_open()) return absl::ErrnoToStatus(errno, "eventfd");
  for (size_t i = 0; i < thread_count_; ++i) threads_.emplace_back([this] { run(); });
  return absl::OkStatus();
}

void SpawnPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void SpawnPool::submit(SpawnOrder order) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.emplace_back(std::move(order));
  }
  wake_.notify_one();
}

void SpawnPool::clean(std::unique_ptr<Place> place) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.emplace_back(std::move(place));
  }
  wake_.notify_one();
}

SpawnPool::Finished SpawnPool::take() {
  uint64_t ignored = 0;
  [[maybe_unused]] const ssize_t got = read(ready_.get(), &ignored, sizeof(ignored));
  const std::lock_guard lock(mutex_);
  return std::exchange(finished_, {});
}

void SpawnPool::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (stopping_) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    carry_out(std::move(task));
    lock.lock();
  }
}

void SpawnPool::carry_out(Task task) {
  if (auto* order = std::get_if<SpawnOrder>(&task)) {
    if (!order->program.files.empty() && order->program.folder.empty()) order->place->folder->note_files();
    // A folder that the agent made and filled takes the place of ours; the agent removes it.
    const std::string& own = order->program.folder;
    SpawnPlace place{.folder = own.empty() ? order->place->folder->path() : own,
                     .working_dir = own.empty() ? order->place->folder->cwd() : own + "/cwd",
                     .enclosure = order->place->enclosure.get(),
                     .mark = mark_,
                     .inherited = &inherited_};
    if (!order->program.secret_files.empty()) order->place->folder->note_secrets(secrets_folder(place.folder));
    place.group = order->place->group.get();
    place.data_limit = order->data_limit;
    place.record = order->place->record;
    const absl::Status limited = set_limits(*order);
    SpawnDone done{order->number, order->execution, limited.ok() ? spawn(order->program, place) : not_limited(limited)};
    return announce([&] { finished_.spawned.push_back(std::move(done)); });
  }
  auto& place = std::get<std::unique_ptr<Place>>(task);
  if (absl::Status cleaned = place->folder->clean(); !cleaned.ok()) {
    say("a working folder cannot be cleaned up and is set aside: ", std::string(cleaned.message()));
    return;
  }
  announce([&] { finished_.cleaned.push_back(std::move(place)); });
}

template <class Add>
void SpawnPool::announce(const Add& add) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = finished_.spawned.empty() && finished_.cleaned.empty();
    add();
  }
  if (!first) return;  // the loop has been woken and will find this one too
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t wrote = write(ready_.get(), &one, sizeof(one));
}

}  // namespace hodei::worker

#include "src/worker/artifacts/transfers.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include <filesystem>

#include "src/base/folder_tree.h"
#include "src/base/status.h"
#include "src/worker/system/journal.h"
#include "src/worker/system/shortage.h"

namespace hodei::worker {
namespace {

namespace fs = std::filesystem;

absl::Status make_folder(const std::string& folder) {
  RETURN_IF_ERROR(remove_tree(folder));
  std::error_code failed;
  for (const std::string& path : {cwd_of(folder), incoming_of(folder)}) {
    if (!failed) fs::create_directories(path, failed);
  }
  if (failed) return errno_status(failed.value(), "making " + folder);
  chmod(cwd_of(folder).c_str(), 0700);
  return absl::OkStatus();
}

absl::Status fetch_all(const Transfers::Load& load, const Surroundings& around) {
  RETURN_IF_ERROR(make_folder(load.folder));
  for (const ArtifactOrder& order : load.artifacts) {
    RETURN_IF_ERROR(fetch(order, around));
    say(to_string(load.execution), ": input ", order.path, " fetched");
  }
  remove_tree(incoming_of(load.folder)).IgnoreError();
  return absl::OkStatus();
}

absl::Status send_all(const Transfers::Load& load, const Surroundings& around) {
  for (const ArtifactOrder& order : load.artifacts) {
    RETURN_IF_ERROR(send(order, around));
    say(to_string(load.execution), ": output ", order.path, " sent");
  }
  return absl::OkStatus();
}

void remove_folder(const std::string& folder) {
  const absl::Status removed = remove_tree(folder);
  if (!removed.ok()) say("cannot remove ", folder, ": ", std::string(removed.message()));
}

}  // namespace

Transfers::Transfers() : ready_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Transfers::start() {
  for (size_t i = 0; i < kTransferThreads; ++i) threads_.emplace_back([this] { run(); });
}

void Transfers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (auto& [execution, task] : current_) task->stop.request_stop();
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Transfers::set_server(ServerStore store) {
  const std::lock_guard lock(mutex_);
  store_ = std::move(store);
}

void Transfers::fetch(Load load) { add(std::make_shared<Task>(Task{.kind = Kind::Fetch, .load = std::move(load)})); }

void Transfers::send(Load load) { add(std::make_shared<Task>(Task{.kind = Kind::Send, .load = std::move(load)})); }

void Transfers::drop(ExecutionId execution) {
  const std::lock_guard lock(mutex_);
  const auto it = current_.find(execution);
  if (it == current_.end()) return;
  it->second->dropped = true;
  it->second->stop.request_stop();
}

void Transfers::remove(ExecutionId execution, std::string folder) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = current_.find(execution); it != current_.end()) {
      it->second->remove_after = true;
      return;
    }
  }
  add(std::make_shared<Task>(
      Task{.kind = Kind::Remove, .load = {.execution = execution, .folder = std::move(folder)}}));
}

std::vector<Transfers::Done> Transfers::take() {
  uint64_t ignored = 0;
  [[maybe_unused]] const ssize_t got = read(ready_.get(), &ignored, sizeof(ignored));
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, {});
}

void Transfers::add(std::shared_ptr<Task> task) {
  {
    const std::lock_guard lock(mutex_);
    if (task->kind != Kind::Remove) current_[task->load.execution] = task;
    waiting_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void Transfers::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const std::shared_ptr<Task> task = std::move(waiting_.front());
    waiting_.pop_front();
    const ServerStore store = store_;
    lock.unlock();
    absl::Status result = carry_out(*task, store);
    finished(task, std::move(result));
    lock.lock();
  }
}

absl::Status Transfers::carry_out(const Task& task, const ServerStore& store) {
  const Surroundings around{.execution = task.load.execution,
                            .folder = task.load.folder,
                            .store = store,
                            .files_allowed = task.load.files_allowed,
                            .stop = task.stop.get_token()};
  if (around.stop.stop_requested()) return absl::CancelledError("stopped");
  switch (task.kind) {
    case Kind::Fetch: return fetch_all(task.load, around);
    case Kind::Send: return send_all(task.load, around);
    case Kind::Remove: remove_folder(task.load.folder); break;
  }
  return absl::OkStatus();
}

void Transfers::finished(const std::shared_ptr<Task>& task, absl::Status result) {
  if (task->kind == Kind::Remove) return;
  bool remove = false;
  bool tell = false;
  {
    const std::lock_guard lock(mutex_);
    current_.erase(task->load.execution);
    remove = task->remove_after;
    tell = !task->dropped && !stopping_;
    if (tell) done_.push_back({task->load.execution, std::move(result)});
  }
  if (remove) remove_folder(task->load.folder);
  if (!tell) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t wrote = write(ready_.get(), &one, sizeof(one));
}

}  // namespace hodei::worker

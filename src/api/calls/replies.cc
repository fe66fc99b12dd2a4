#include "src/api/calls/replies.h"

#include <utility>

namespace hodei::api {

void Replies::Item::run() {
  if (work) return work();
  reply(std::move(value));
}

void Replies::start() {
  for (Line& line : lines_) {
    const std::lock_guard lock(line.mutex);
    if (line.running) continue;
    line.running = true;
    line.thread = std::thread([&line] { run(line); });
  }
}

void Replies::stop() {
  for (Line& line : lines_) {
    {
      const std::lock_guard lock(line.mutex);
      line.running = false;
    }
    line.wake.notify_one();
    if (line.thread.joinable()) line.thread.join();
  }
}

void Replies::answer(Lane lane, ReplyTo reply, absl::StatusOr<core::Reply> value) {
  Item item{std::move(reply), std::move(value), nullptr};
  if (!push(lane, item)) item.run();
}

void Replies::post(Lane lane, std::function<void()> work) {
  Item item{nullptr, absl::UnknownError("no reply"), std::move(work)};
  push(lane, item);
}

bool Replies::push(Lane lane, Item& item) {
  Line& line = lines_[static_cast<size_t>(lane)];
  std::unique_lock lock(line.mutex);
  if (!line.running) return false;
  line.waiting.push_back(std::move(item));
  // The thread takes all waiting items at once, so only the first item has to wake it.
  const bool is_first = line.waiting.size() == 1;
  lock.unlock();
  if (is_first) line.wake.notify_one();
  return true;
}

void Replies::run(Line& line) {
  std::vector<Item> taken;
  std::unique_lock lock(line.mutex);
  while (true) {
    line.wake.wait(lock, [&line] { return !line.waiting.empty() || !line.running; });
    if (line.waiting.empty()) return;
    taken.swap(line.waiting);
    lock.unlock();
    for (Item& item : taken) item.run();
    taken.clear();
    lock.lock();
  }
}

}  // namespace hodei::api

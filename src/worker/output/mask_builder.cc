#include "src/worker/output/mask_builder.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "src/base/codec.h"
#include "src/base/sha256.h"
#include "src/worker/output/secret_forms.h"

namespace hodei::worker {

MaskBuilder::MaskBuilder() : ready_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void MaskBuilder::start() {
  thread_ = std::thread([this] { run(); });
}

void MaskBuilder::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::optional<MaskBuilder::SharedMask> MaskBuilder::ask(ExecutionId execution, const Secrets& secrets) {
  size_t bytes = 0;
  Encoder values;
  for (const auto& [name, value] : secrets) {
    bytes += value.size();
    values.text(value);
  }
  if (bytes <= kAtOnce) return mask_for(secrets);
  const Key key = sha256(values.take());
  {
    const std::lock_guard lock(mutex_);
    if (SharedMask mask = known(key)) return mask;
    orders_.push_back({execution, key, secrets});
  }
  wake_.notify_one();
  return std::nullopt;
}

std::vector<MaskBuilder::Made> MaskBuilder::take() {
  uint64_t ignored = 0;
  [[maybe_unused]] const ssize_t got = read(ready_.get(), &ignored, sizeof(ignored));
  const std::lock_guard lock(mutex_);
  return std::exchange(made_, {});
}

MaskBuilder::SharedMask MaskBuilder::known(const Key& key) const {
  const auto it = masks_.find(key);
  return it == masks_.end() ? nullptr : it->second.lock();
}

void MaskBuilder::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !orders_.empty(); });
    if (stopping_) return;
    const Order order = std::move(orders_.front());
    orders_.pop_front();
    SharedMask mask = known(order.key);
    if (mask == nullptr) {
      lock.unlock();
      mask = mask_for(order.secrets);
      lock.lock();
      std::erase_if(masks_, [](const auto& each) { return each.second.expired(); });
      masks_[order.key] = mask;
    }
    made_.push_back({order.execution, std::move(mask)});
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t wrote = write(ready_.get(), &one, sizeof(one));
  }
}

}  // namespace hodei::worker

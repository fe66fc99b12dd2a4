#include "src/server/open_calls.h"

namespace hodei::server {
namespace {

absl::Status stopping() { return absl::UnavailableError("the server is shutting down; try again in a moment"); }

}  // namespace

uint64_t OpenCalls::add(End end) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      calls_.emplace(next_, std::move(end));
      return next_++;
    }
  }
  end(stopping());
  return 0;
}

void OpenCalls::remove(uint64_t call) {
  const std::lock_guard lock(mutex_);
  calls_.erase(call);
}

void OpenCalls::end_all() {
  std::map<uint64_t, End> all;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    all.swap(calls_);
  }
  for (const auto& [call, end] : all) end(stopping());
}

size_t OpenCalls::size() const {
  const std::lock_guard lock(mutex_);
  return calls_.size();
}

}  // namespace hodei::server

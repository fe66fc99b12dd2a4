#include "src/worker/output/output_limit.h"

#include <algorithm>

namespace hodei::worker {
namespace {

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kPortionsPerSecond = 20;
constexpr int64_t kSmallPortion = 1 << 10;

// What is waited for once the bucket is empty: reading every single byte as it is allowed would keep the loop busy.
int64_t portion(int64_t rate) { return std::max(rate / kPortionsPerSecond, std::min(rate, kSmallPortion)); }

}  // namespace

OutputLimit::OutputLimit(const OutputRules& rules, MonoTime start)
    : rules_(rules), credit_(rules.max_bytes_per_second * kSecond), refilled_(start) {}

void OutputLimit::refill(MonoTime now) {
  const int64_t full = rules_.max_bytes_per_second * kSecond;
  const int64_t elapsed = std::clamp<int64_t>((now - refilled_).count(), 0, kSecond);
  credit_ = std::min(full, credit_ + elapsed * rules_.max_bytes_per_second);
  refilled_ = now;
}

OutputLimit::Step OutputLimit::next(MonoTime now) {
  size_t most = SIZE_MAX;
  if (rules_.max_bytes > 0) {
    if (kept_ >= rules_.max_bytes) return {.what = Do::Discard};
    most = static_cast<size_t>(rules_.max_bytes - kept_);
  }
  const int64_t rate = rules_.max_bytes_per_second;
  if (rate <= 0) return {.what = Do::Keep, .most = most};
  refill(now);
  if (credit_ < kSecond) resting_ = true;
  const int64_t missing = portion(rate) * kSecond - credit_;
  if (resting_ && missing > 0) {
    if (rules_.drop) return {.what = Do::Discard};
    return {.what = Do::Wait, .until = now + Duration((missing + rate - 1) / rate)};
  }
  resting_ = false;
  return {.what = Do::Keep, .most = std::min(most, static_cast<size_t>(credit_ / kSecond))};
}

void OutputLimit::kept(size_t bytes) {
  kept_ += static_cast<int64_t>(bytes);
  credit_ -= static_cast<int64_t>(bytes) * (rules_.max_bytes_per_second > 0 ? kSecond : 0);
}

}  // namespace hodei::worker

// What a person has set for a concurrency key: how many jobs at once, and how many starts per second.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "src/base/time.h"

namespace hodei::core {

struct KeyRule {
  std::string ns;
  std::string key;
  std::optional<int64_t> limit;  // jobs at once; 0: no limit; absent: the limit set by jobs
  double rate = 0;               // starts per second; 0: no limit
  int64_t burst = 0;             // starts at once before the rate applies; with a rate, at least 1

  bool operator==(const KeyRule&) const = default;
};

inline constexpr double kMinRate = 1e-5;  // a little less than one per day
inline constexpr double kMaxRate = 1e6;
inline constexpr int64_t kMaxBurst = 10'000;
inline constexpr size_t kMaxKeyRules = 100'000;

std::string encode(const KeyRule& rule);
KeyRule decode_key_rule(std::string_view bytes);
absl::Status validate(const KeyRule& rule);
// The name of its setting.
std::string setting_name(const std::string& ns, const std::string& key);

// A token bucket of `burst` starts that refills at `rate` per second. Kept as the time at which it is full, so that
// nothing has to be updated as time passes. On the monotonic clock.
class Bucket {
 public:
  // Full at first. On later calls, what was taken stays taken.
  void set(double rate, int64_t burst, MonoTime now);
  void empty(MonoTime now) { full_at_ = now.us * kNanos + burst_ * interval_; }

  int64_t ready(MonoTime now) const;  // starts allowed now
  MonoTime next(MonoTime now) const;  // when the next start is allowed; may be now
  void take(MonoTime now);

 private:
  static constexpr int64_t kNanos = 1'000;  // per microsecond

  int64_t interval_ = 0;  // nanoseconds between starts; 0: no limit
  int64_t burst_ = 0;
  int64_t full_at_ = 0;  // in nanoseconds
};

// A rule in force.
struct KeySetting {
  KeyRule rule;
  Bucket bucket;      // volatile
  MonoTime wakes{0};  // when its waiting jobs are considered again; 0: no timer
};

}  // namespace hodei::core

#include "src/core/placement/key_rule.h"

#include <algorithm>
#include <cmath>

#include "src/base/codec.h"
#include "src/base/finite.h"
#include "src/base/ids.h"
#include "src/base/status.h"
#include "src/core/jobs/spec.h"

namespace hodei::core {
namespace {

constexpr double kBillion = 1e9;  // rates are stored in billionths

}  // namespace

std::string encode(const KeyRule& r) {
  Encoder out;
  out.text(r.ns).text(r.key).i64(r.limit.value_or(-1)).i64(std::llround(r.rate * kBillion)).i64(r.burst);
  return out.take();
}

KeyRule decode_key_rule(std::string_view bytes) {
  Decoder in(bytes);
  KeyRule r;
  r.ns = in.text();
  r.key = in.text();
  if (const int64_t limit = in.i64(); limit >= 0) r.limit = limit;
  r.rate = static_cast<double>(in.i64()) / kBillion;
  r.burst = in.i64();
  if (!(r.rate > 0)) return r.rate = 0, r.burst = 0, r;
  r.rate = bounded(r.rate, kMinRate, kMaxRate, kMinRate);
  r.burst = std::clamp<int64_t>(r.burst, 1, kMaxBurst);
  return r;
}

absl::Status validate(const KeyRule& r) {
  RETURN_IF_ERROR(check_name("namespace", r.ns));
  if (r.key.empty() || r.key.size() > kMaxKeyLength) {
    return bad_field("key", "must have 1 to ", kMaxKeyLength, " characters, not ", r.key.size());
  }
  if (r.limit && (*r.limit < 0 || *r.limit > kMaxConcurrencyLimit)) {
    return bad_field("limit", "must be from 0 (no limit) to ", kMaxConcurrencyLimit, ", not ", *r.limit);
  }
  if (r.rate != 0)
    RETURN_IF_ERROR(check_within("rate", r.rate, kMinRate, kMaxRate, " starts per second (0: no limit)"));
  if (r.rate == 0 && r.burst != 0) return bad_field("burst", "needs a rate, for example --rate 5/s");
  if (r.rate != 0 && (r.burst < 1 || r.burst > kMaxBurst)) {
    return bad_field("burst", "must be from 1 to ", kMaxBurst, ", not ", r.burst);
  }
  return absl::OkStatus();
}

std::string setting_name(const std::string& ns, const std::string& key) { return cat(ns, "/", key); }

void Bucket::set(double rate, int64_t burst, MonoTime now) {
  const int64_t at = now.us * kNanos;
  const double taken =
      interval_ == 0 ? 0 : static_cast<double>(std::max<int64_t>(full_at_ - at, 0)) / static_cast<double>(interval_);
  const double left = std::min(interval_ == 0 ? static_cast<double>(burst) : static_cast<double>(burst_) - taken,
                               static_cast<double>(burst));
  interval_ = rate > 0 ? std::llround(kBillion / rate) : 0;
  burst_ = burst;
  full_at_ = at + static_cast<int64_t>(std::ceil((static_cast<double>(burst) - left) * static_cast<double>(interval_)));
}

int64_t Bucket::ready(MonoTime now) const {
  if (interval_ == 0) return INT64_MAX;
  const int64_t missing = std::max<int64_t>(full_at_ - now.us * kNanos, 0);
  return burst_ - (missing + interval_ - 1) / interval_;
}

MonoTime Bucket::next(MonoTime now) const {
  if (ready(now) > 0) return now;
  return {(full_at_ - (burst_ - 1) * interval_ + kNanos - 1) / kNanos};
}

void Bucket::take(MonoTime now) {
  if (interval_ > 0) full_at_ = std::max(full_at_, now.us * kNanos) + interval_;
}

}  // namespace hodei::core

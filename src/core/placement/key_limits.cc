#include "src/core/placement/key_limits.h"

#include <algorithm>

#include "src/base/codec.h"
#include "src/base/counted.h"
#include "src/base/hash.h"
#include "src/base/status.h"
#include "src/core/placement/placer.h"

namespace hodei::core {
namespace {

// More than these nobody reads, and more than this no answer holds.
constexpr size_t kMaxListedKeys = 10'000;

LimitView view_of(const ConcurrencyKeys::Name& name, const KeyState& key) {
  LimitView view{name.first, name.second, key.cap() == INT64_MAX ? 0 : key.cap()};
  view.held = key.held;
  view.waiting = key.jobs - key.held;
  view.is_set = key.setting != nullptr;
  if (!view.is_set) return view;
  view.rate = key.setting->rule.rate;
  view.burst = key.setting->rule.burst;
  return view;
}

// In the unit that gives a number of 1 or more, as people set it: "5 starts per second", "1 start per hour".
std::string starts_per(double per_second) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"second", 1}, {"minute", 60}, {"hour", 3600}, {"day", 86400}};
  for (const auto& [unit, seconds] : kUnits) {
    const std::string count = fmt::format("{:.4g}", per_second * seconds);
    if (per_second * seconds < 0.9995 && unit != "day") continue;
    return cat(count, count == "1" ? " start per " : " starts per ", unit);
  }
  return {};
}

Timer timer_of(const ConcurrencyKeys::Name& name) {
  return {.kind = TimerKind::KeyRate, .name = setting_name(name.first, name.second)};
}

bool is_named(const DescribeLimits& q, const ConcurrencyKeys::Name& name) {
  return (q.ns.empty() || q.ns == name.first) && (q.key.empty() || q.key == name.second);
}

}  // namespace

Answer KeyLimits::decide(const SetLimit& c, Turn& turn) {
  const KeyState* known = keys_.find(c.ns, c.key);
  const bool fresh = known == nullptr || known->setting == nullptr;
  KeyRule rule = fresh ? KeyRule{c.ns, c.key, {}, 0, 0} : known->setting->rule;
  const std::string before = encode(rule);
  if (c.limit) rule.limit = c.limit;
  rule.rate = c.rate.value_or(rule.rate);
  rule.burst = c.burst.value_or(rule.rate == 0 ? 0 : std::max<int64_t>(rule.burst, 1));
  RETURN_IF_ERROR(validate(rule));
  if (fresh && !c.limit && rule.rate == 0) return bad_field("limit", "set a limit, a rate, or both");
  if (fresh && keys_.set_by_people().size() >= kMaxKeyRules) {
    return absl::ResourceExhaustedError(
        cat(kMaxKeyRules, " keys already have a limit, which is the most allowed; remove one with `hodei limit rm`"));
  }
  if (fresh || encode(rule) != before) {
    turn.write(Put<KeyRule>{rule});
    KeySetting& setting = *keys_.at(c.ns, c.key).setting;
    setting.bucket.set(setting.rule.rate, setting.rule.burst, turn.mono());
    placer_.place_woken(wake(c.ns, c.key, turn), turn);
    const std::string limit = rule.limit ? cat("limit ", *rule.limit) : "no limit";
    audit_.record_act(
        {"limit.set", c.key, cat(limit, rule.rate > 0 ? cat(", rate ", rule.rate, " a second") : ""), c.ns}, turn);
  }
  return LimitViews{{view_of({c.ns, c.key}, keys_.at(c.ns, c.key))}};
}

Answer KeyLimits::decide(const DropLimit& c, Turn& turn) {
  const KeyState* known = keys_.find(c.ns, c.key);
  if (known == nullptr || known->setting == nullptr) {
    return absl::NotFoundError(
        cat("no limit is set for key '", c.key, "' in namespace '", c.ns, "'; see `hodei limit list`"));
  }
  turn.cancel(timer_of({c.ns, c.key}));
  turn.write(Erase<KeyRule>{{c.ns, c.key}});
  audit_.record_act({"limit.removed", c.key, "", c.ns}, turn);
  placer_.place_woken(wake(c.ns, c.key, turn), turn);
  return Done{};
}

Answer KeyLimits::decide(const DescribeLimits& q, Turn&) const {
  LimitViews out;
  for (const auto& [name, key] : keys_.all()) {
    if (is_named(q, name)) out.limits.push_back(view_of(name, key));
  }
  const auto by_name = [](const LimitView& a, const LimitView& b) {
    return std::tie(a.ns, a.key) < std::tie(b.ns, b.key);
  };
  if (out.limits.size() > kMaxListedKeys) {
    const auto matters_more = [&](const LimitView& a, const LimitView& b) {
      if (a.is_set != b.is_set) return a.is_set;
      return a.waiting != b.waiting ? a.waiting > b.waiting : by_name(a, b);
    };
    std::sort(out.limits.begin(), out.limits.end(), matters_more);
    out.limits.resize(kMaxListedKeys);
  }
  std::sort(out.limits.begin(), out.limits.end(), by_name);
  return out;
}

bool KeyLimits::is_full(const JobHead& head, const Turn& turn) const {
  return !head.concurrency_key.empty() && keys_.at(head.ns.str(), head.concurrency_key).room(turn.mono()) <= 0;
}

std::string KeyLimits::held_by(const JobHead& head, const Turn& turn) const {
  if (!is_full(head, turn)) return "";
  const KeyState& key = keys_.at(head.ns.str(), head.concurrency_key);
  if (key.full()) {
    return cat("concurrency key '", head.concurrency_key, "' is at its limit of ", key.cap(), " (",
               counted(key.jobs - key.held, "job"),
               " waiting); it frees up when one of its jobs finishes, or raise it: `hodei limit set ",
               head.concurrency_key, " --limit N`");
  }
  const Duration wait = key.setting->bucket.next(turn.mono()) - turn.mono();
  return cat("concurrency key '", head.concurrency_key, "' is over its rate of ", starts_per(key.setting->rule.rate),
             " until ", format_utc(turn.wall() + wait), " (", counted(key.jobs - key.held, "job"), " waiting)");
}

void KeyLimits::park(JobId id, Turn& turn) {
  LiveJob& job = *ports_.jobs->find(id);
  queue_.park(job);
  if (keys_.set_by_people().empty()) return;
  const ConcurrencyKeys::Name name(job.head->ns.str(), job.head->concurrency_key);
  await_rate(name, keys_.at(name.first, name.second), turn);
}

void KeyLimits::count_start(const JobHead& head, Lane* lane, Turn& turn) {
  if (head.concurrency_key.empty() || keys_.set_by_people().empty()) return;
  const ConcurrencyKeys::Name name(head.ns.str(), head.concurrency_key);
  KeyState& key = keys_.at(name.first, name.second);
  if (!key.has_rate()) return;
  key.setting->bucket.take(turn.mono());
  // Room comes with time here, and not only when a job ends: the next one of the lane takes the place of this one.
  const JobId next = key.room(turn.mono()) > 0 ? keys_.first_parked(key, lane) : JobId{};
  if (next != JobId{}) queue_.queue(*ports_.jobs->find(next));
  await_rate(name, key, turn);
}

bool KeyLimits::set_by_job(const JobHead& head, int64_t wanted, Turn& turn) {
  const std::string& key = head.concurrency_key;
  if (key.empty()) return false;
  const std::string& ns = head.ns.str();
  const KeyState* known = keys_.find(ns, key);
  const int64_t before = known != nullptr && known->is_stored ? known->limit : 0;
  const int64_t limit = wanted > 0 ? wanted : std::max<int64_t>(before, 1);
  if (limit != before) turn.write(Put<KeyLimitRow>(KeyLimitRow{ns, key, limit}));
  return before != 0 && limit > before;
}

std::vector<JobId> KeyLimits::wake(const std::string& ns, const std::string& key, Turn& turn) {
  const KeyState* known = keys_.find(ns, key);
  if (known == nullptr || !known->is_stored) return {};
  KeyState& found = keys_.at(ns, key);
  const std::vector<JobId> woken = keys_.wakeable(found, turn.mono());
  for (const JobId job : woken) queue_.queue(*ports_.jobs->find(job));
  if (found.has_rate()) await_rate({ns, key}, found, turn);
  return woken;
}

void KeyLimits::await_rate(const ConcurrencyKeys::Name& name, KeyState& key, Turn& turn) {
  if (key.waiting == 0 || !key.has_rate() || key.setting->bucket.ready(turn.mono()) > 0) return;
  KeySetting& setting = *key.setting;
  const MonoTime at = setting.bucket.next(turn.mono());
  if (setting.wakes == at) return;
  setting.wakes = at;
  turn.wake_at(at, timer_of(name));
}

void KeyLimits::due(const Timer& timer, Turn& turn) {
  const size_t slash = timer.name.find('/');  // namespaces have none
  const ConcurrencyKeys::Name name(timer.name.substr(0, slash), timer.name.substr(slash + 1));
  const KeyState* key = keys_.find(name.first, name.second);
  if (key == nullptr || key->setting == nullptr) return;
  key->setting->wakes = {};
  placer_.place_woken(wake(name.first, name.second, turn), turn);
}

// Nobody knows how much of a burst was used before: it has to be earned again.
void KeyLimits::resume(Turn& turn) {
  for (const auto& [name, key] : keys_.set_by_people()) {
    key->setting->bucket.set(key->setting->rule.rate, key->setting->rule.burst, turn.mono());
    key->setting->bucket.empty(turn.mono());
  }
}

void KeyLimits::fold(const Put<KeyLimitRow>& write) {
  KeyState& key = keys_.at(write.row->ns, write.row->key);
  key.is_stored = true;
  key.limit = write.row->limit;
}

uint64_t KeyLimits::digest() const {
  uint64_t sum = 0;
  for (const auto& [name, key] : keys_.all()) {
    if (key.is_stored) {
      Encoder out;
      out.text(name.first).text(name.second).i64(key.limit).i64(key.jobs).i64(key.held);
      sum += hash64(out.bytes());
    }
    if (key.setting != nullptr) sum += hash64(encode(key.setting->rule));
  }
  return sum;
}

}  // namespace hodei::core

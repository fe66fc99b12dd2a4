// Concurrency keys: what people set for them, who has to wait for them, and when the waiting ends.
#include <algorithm>

#include "src/base/counted.h"
#include "src/base/status.h"
#include "src/core/engine.h"

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

bool is_named(const DescribeLimits& q, const ConcurrencyKeys::Name& name) {
  return (q.ns.empty() || q.ns == name.first) && (q.key.empty() || q.key == name.second);
}

}  // namespace

Engine::Answer Engine::on(const SetLimit& c, Now now, Turn& turn) {
  const KeyState* known = state_.keys().find(c.ns, c.key);
  const bool fresh = known == nullptr || known->setting == nullptr;
  KeyRule rule = fresh ? KeyRule{c.ns, c.key, {}, 0, 0} : known->setting->rule;
  const std::string before = encode(rule);
  if (c.limit) rule.limit = c.limit;
  rule.rate = c.rate.value_or(rule.rate);
  rule.burst = c.burst.value_or(rule.rate == 0 ? 0 : std::max<int64_t>(rule.burst, 1));
  RETURN_IF_ERROR(validate(rule));
  if (fresh && !c.limit && rule.rate == 0) return bad_field("limit", "set a limit, a rate, or both");
  if (fresh && state_.keys().set_by_people().size() >= kMaxKeyRules) {
    return absl::ResourceExhaustedError(
        cat(kMaxKeyRules, " keys already have a limit, which is the most allowed; remove one with `hodei limit rm`"));
  }
  if (fresh || encode(rule) != before) {
    write(PutSetting{{SettingKind::KeyRate, setting_name(c.ns, c.key), encode(rule)}}, turn);
    KeySetting& setting = *state_.keys().at(c.ns, c.key).setting;
    setting.bucket.set(setting.rule.rate, setting.rule.burst, now.mono);
    place_woken(wake_key(c.ns, c.key, now), now, turn);
    const std::string limit = rule.limit ? cat("limit ", *rule.limit) : "no limit";
    record_act(c.principal,
               {"limit.set", c.key, cat(limit, rule.rate > 0 ? cat(", rate ", rule.rate, " a second") : ""), c.ns}, now,
               turn);
  }
  return LimitViews{{view_of({c.ns, c.key}, state_.keys().at(c.ns, c.key))}};
}

Engine::Answer Engine::on(const DropLimit& c, Now now, Turn& turn) {
  const KeyState* known = state_.keys().find(c.ns, c.key);
  if (known == nullptr || known->setting == nullptr) {
    return absl::NotFoundError(
        cat("no limit is set for key '", c.key, "' in namespace '", c.ns, "'; see `hodei limit list`"));
  }
  if (known->setting->wakes.is_set()) key_timers_.erase({known->setting->wakes, {c.ns, c.key}});
  write(DeleteSetting{SettingKind::KeyRate, setting_name(c.ns, c.key)}, turn);
  record_act(c.principal, {"limit.removed", c.key, "", c.ns}, now, turn);
  place_woken(wake_key(c.ns, c.key, now), now, turn);
  return Done{};
}

Engine::Answer Engine::answer(const DescribeLimits& q, Now) {
  LimitViews out;
  for (const auto& [name, key] : state_.keys().all()) {
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

bool Engine::key_is_full(const JobHead& head, Now now) {
  return !head.concurrency_key.empty() && state_.keys().at(head.ns.str(), head.concurrency_key).room(now.mono) <= 0;
}

std::string Engine::held_by_key(const JobHead& head, Now now) {
  if (!key_is_full(head, now)) return "";
  const KeyState& key = state_.keys().at(head.ns.str(), head.concurrency_key);
  if (key.full()) {
    return cat("concurrency key '", head.concurrency_key, "' is at its limit of ", key.cap(), " (",
               counted(key.jobs - key.held, "job"),
               " waiting); it frees up when one of its jobs finishes, or raise it: `hodei limit set ",
               head.concurrency_key, " --limit N`");
  }
  const Duration wait = key.setting->bucket.next(now.mono) - now.mono;
  return cat("concurrency key '", head.concurrency_key, "' is over its rate of ", starts_per(key.setting->rule.rate),
             " until ", format_utc(now.wall + wait), " (", counted(key.jobs - key.held, "job"), " waiting)");
}

void Engine::park(JobId id, Now now) {
  state_.park(id);
  if (state_.keys().set_by_people().empty()) return;
  const JobHead& head = *state_.job(id)->head;
  const ConcurrencyKeys::Name name(head.ns.str(), head.concurrency_key);
  await_rate(name, state_.keys().at(name.first, name.second), now);
}

void Engine::count_start(const JobHead& head, Lane* lane, Now now) {
  if (head.concurrency_key.empty() || state_.keys().set_by_people().empty()) return;
  const ConcurrencyKeys::Name name(head.ns.str(), head.concurrency_key);
  KeyState& key = state_.keys().at(name.first, name.second);
  if (!key.has_rate()) return;
  key.setting->bucket.take(now.mono);
  // Room comes with time here, and not only when a job ends: the next one of the lane takes the place of this one.
  const JobId next = key.room(now.mono) > 0 ? state_.keys().first_parked(key, lane) : JobId{};
  if (next != JobId{}) state_.queue(next);
  await_rate(name, key, now);
}

std::vector<JobId> Engine::wake_key(const std::string& ns, const std::string& key, Now now) {
  if (!state_.has_key(ns, key)) return {};
  KeyState& found = state_.keys().at(ns, key);
  const std::vector<JobId> woken = state_.keys().wakeable(found, now.mono);
  for (const JobId job : woken) state_.queue(job);
  if (found.has_rate()) await_rate({ns, key}, found, now);
  return woken;
}

void Engine::await_rate(const ConcurrencyKeys::Name& name, KeyState& key, Now now) {
  if (key.waiting == 0 || !key.has_rate() || key.setting->bucket.ready(now.mono) > 0) return;
  KeySetting& setting = *key.setting;
  const MonoTime at = setting.bucket.next(now.mono);
  if (setting.wakes == at) return;
  if (setting.wakes.is_set()) key_timers_.erase({setting.wakes, name});
  setting.wakes = at;
  key_timers_.insert({at, name});
}

void Engine::wake_due_keys(Now now, Turn& turn) {
  while (!key_timers_.empty() && key_timers_.begin()->first <= now.mono) {
    const ConcurrencyKeys::Name name = key_timers_.begin()->second;
    key_timers_.erase(key_timers_.begin());
    const KeyState* key = state_.keys().find(name.first, name.second);
    if (key == nullptr || key->setting == nullptr) continue;
    key->setting->wakes = {};
    place_woken(wake_key(name.first, name.second, now), now, turn);
  }
}

}  // namespace hodei::core

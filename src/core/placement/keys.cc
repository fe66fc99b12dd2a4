#include "src/core/placement/keys.h"

#include <algorithm>

namespace hodei::core {

void ConcurrencyKeys::erase(const std::string& ns, const std::string& key) {
  const auto it = keys_.find(Name(ns, key));
  if (it == keys_.end()) return;
  if (it->second.setting == nullptr) {
    keys_.erase(it);
  } else {
    it->second.is_stored = false;
    it->second.limit = 1;
  }
}

void ConcurrencyKeys::set(const KeyRule& rule) {
  KeyState& key = at(rule.ns, rule.key);
  if (key.setting == nullptr) key.setting = std::make_unique<KeySetting>();
  key.setting->rule = rule;
  set_[Name(rule.ns, rule.key)] = &key;
}

void ConcurrencyKeys::unset(const std::string& ns, const std::string& key) {
  const auto it = keys_.find(Name(ns, key));
  if (it == keys_.end()) return;
  it->second.setting = nullptr;
  set_.erase(it->first);
  if (!it->second.is_stored && it->second.jobs == 0) keys_.erase(it);
}

JobId ConcurrencyKeys::first_parked(const KeyState& key, Lane* lane) const {
  const auto it = key.parked.find(lane);
  return it == key.parked.end() ? JobId{} : *it->second.begin();
}

void ConcurrencyKeys::park(KeyState& key, Lane* lane, JobId job) {
  if (!key.parked[lane].insert(job).second) return;
  ++lane->parked;
  ++key.waiting;
}

void ConcurrencyKeys::unpark(KeyState& key, Lane* lane, JobId job) {
  const auto it = key.parked.find(lane);
  if (it == key.parked.end() || it->second.erase(job) == 0) return;
  if (it->second.empty()) key.parked.erase(it);
  --lane->parked;
  --key.waiting;
}

std::vector<JobId> ConcurrencyKeys::wakeable(const KeyState& key, MonoTime now) const {
  std::vector<JobId> out;
  if (key.parked.empty()) return out;
  const int64_t room = key.room(now);
  for (const auto& [lane, jobs] : key.parked) {
    int64_t left = room;
    for (auto job = jobs.begin(); job != jobs.end() && left > 0; ++job, --left) out.push_back(*job);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace hodei::core

// Concurrency keys: at most so many jobs of a key are with workers at once, and at most so many start in a second. Jobs
// over the limit wait here, outside the lanes, so that they cost nothing while they cannot run.
//
// Invariant between decisions: a lane with parked jobs of a key that has room has one of its jobs in the queue too. So
// parked jobs are looked at only when one of the key's jobs starts or ends, or when its bucket has filled again.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/node_hash_map.h"
#include "src/base/ids.h"
#include "src/core/placement/key_rule.h"
#include "src/core/placement/lane.h"

namespace hodei::core {

struct KeyState {
  bool is_stored = false;                          // has a row with its limit
  int64_t limit = 1;                               // as jobs say
  int64_t jobs = 0;                                // not ended
  int64_t held = 0;                                // dispatched and not proven ended
  std::map<Lane*, absl::btree_set<JobId>> parked;  // never iterated to decide; see `wakeable`
  size_t waiting = 0;

  std::unique_ptr<KeySetting> setting;  // what a person set; null: nothing

  // At once, whoever said so. A person's word stands until it is taken back.
  int64_t cap() const {
    if (setting == nullptr || !setting->rule.limit) return limit;
    return *setting->rule.limit == 0 ? INT64_MAX : *setting->rule.limit;
  }
  bool full() const { return held >= cap(); }
  bool has_rate() const { return setting != nullptr && setting->rule.rate > 0; }
  // Further jobs that may start now.
  int64_t room(MonoTime now) const {
    const int64_t left = cap() - held;
    return has_rate() ? std::min(left, setting->bucket.ready(now)) : left;
  }
};

class ConcurrencyKeys {
 public:
  using Name = std::pair<std::string, std::string>;  // namespace, key

  using All = absl::node_hash_map<Name, KeyState>;  // never iterated to decide

  KeyState& at(const std::string& ns, const std::string& key) { return keys_[Name(ns, key)]; }
  const KeyState* find(const std::string& ns, const std::string& key) const {
    const auto it = keys_.find(Name(ns, key));
    return it == keys_.end() ? nullptr : &it->second;
  }
  // The row with the limit that jobs said is gone; no job uses the key.
  void erase(const std::string& ns, const std::string& key);
  // A person's word, and that it is taken back.
  void set(const KeyRule& rule);
  void unset(const std::string& ns, const std::string& key);
  const std::map<Name, KeyState*>& set_by_people() const { return set_; }
  const All& all() const { return keys_; }

  void park(KeyState& key, Lane* lane, JobId job);
  void unpark(KeyState& key, Lane* lane, JobId job);

  // Of every lane the first parked jobs, as many as there is room for: each of them could take it, and a lane that fits
  // on no worker must not keep the others from it. By growing number.
  std::vector<JobId> wakeable(const KeyState& key, MonoTime now) const;
  // The first parked job of one lane; 0: there is none.
  JobId first_parked(const KeyState& key, Lane* lane) const;

 private:
  All keys_;
  std::map<Name, KeyState*> set_;  // those with a setting
};

}  // namespace hodei::core

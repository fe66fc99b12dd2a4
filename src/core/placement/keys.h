// Concurrency keys limit how many jobs with a key are with workers at once, and how many start per second. Jobs over
// the limit are parked here, outside the lanes, so that they cost nothing while they cannot run.
//
// Invariant between decisions: if a key has room and a lane has parked jobs with this key, then that lane also has one
// of them in the queue. So parked jobs are considered only when a job with the key starts or ends, or when its bucket
// has a token again.
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
  bool is_stored = false;                          // its limit has a row
  int64_t limit = 1;                               // as set by jobs
  int64_t jobs = 0;                                // that have not ended
  int64_t held = 0;                                // dispatched and not proven to have ended
  std::map<Lane*, absl::btree_set<JobId>> parked;  // never iterated for a decision; see `wakeable`
  size_t waiting = 0;

  std::unique_ptr<KeySetting> setting;  // set by a person; null: nothing

  // The limit in force. One set by a person overrides that of jobs until it is removed.
  int64_t cap() const {
    if (setting == nullptr || !setting->rule.limit) return limit;
    return *setting->rule.limit == 0 ? INT64_MAX : *setting->rule.limit;
  }
  bool full() const { return held >= cap(); }
  bool has_rate() const { return setting != nullptr && setting->rule.rate > 0; }
  // How many more jobs may start now.
  int64_t room(MonoTime now) const {
    const int64_t left = cap() - held;
    return has_rate() ? std::min(left, setting->bucket.ready(now)) : left;
  }
};

class ConcurrencyKeys {
 public:
  using Name = std::pair<std::string, std::string>;  // namespace, key

  using All = absl::node_hash_map<Name, KeyState>;  // never iterated for a decision

  KeyState& at(const std::string& ns, const std::string& key) { return keys_[Name(ns, key)]; }
  const KeyState* find(const std::string& ns, const std::string& key) const {
    const auto it = keys_.find(Name(ns, key));
    return it == keys_.end() ? nullptr : &it->second;
  }
  // The row with the limit set by jobs is deleted; no job uses the key.
  void erase(const std::string& ns, const std::string& key);
  // A person sets or removes a rule.
  void set(const KeyRule& rule);
  void unset(const std::string& ns, const std::string& key);
  const std::map<Name, KeyState*>& set_by_people() const { return set_; }
  const All& all() const { return keys_; }

  void park(KeyState& key, Lane* lane, JobId job);
  void unpark(KeyState& key, Lane* lane, JobId job);

  // The first parked jobs of every lane, each lane as many as the key has room for: any lane might use the room, and a
  // lane that fits on no worker must not keep it from the others. Ordered by number.
  std::vector<JobId> wakeable(const KeyState& key, MonoTime now) const;
  // The first parked job of a lane; 0: none.
  JobId first_parked(const KeyState& key, Lane* lane) const;

 private:
  All keys_;
  std::map<Name, KeyState*> set_;  // those with a setting
};

}  // namespace hodei::core

// Deadlines, at most one per key. A deadline that is no longer needed is removed, so that memory grows with what is
// under way and not with everything that has ever happened.
#pragma once

#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "src/base/time.h"

namespace hodei::core {

template <class Key>
class Deadlines {
 public:
  void set(const Key& key, MonoTime at) {
    cancel(key);
    at_.emplace(key, at);
    order_.emplace(at, key);
  }

  void cancel(const Key& key) {
    const auto it = at_.find(key);
    if (it == at_.end()) return;
    order_.erase({it->second, key});
    at_.erase(it);
  }

  // Removes and returns the key with the earliest deadline. There must be one.
  Key take_first() {
    const Key key = order_.begin()->second;
    cancel(key);
    return key;
  }

  bool is_due(MonoTime now) const { return !order_.empty() && order_.begin()->first <= now; }
  MonoTime next() const { return order_.empty() ? kNever : order_.begin()->first; }
  size_t size() const { return order_.size(); }

 private:
  absl::btree_map<Key, MonoTime> at_;
  absl::btree_set<std::pair<MonoTime, Key>> order_;
};

}  // namespace hodei::core

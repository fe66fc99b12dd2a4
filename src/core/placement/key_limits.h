// The limits of concurrency keys: what people set for them, who has to wait for them, and when the waiting ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/core/audit/audit.h"
#include "src/core/placement/keys.h"
#include "src/core/placement/ports.h"
#include "src/core/placement/queue.h"
#include "src/core/placement/rows.h"
#include "src/core/routing.h"

namespace hodei::core {

class Placer;

class KeyLimits {
 public:
  KeyLimits(const PlacementPorts& ports, ConcurrencyKeys& keys, WaitingQueue& queue, Placer& placer, Audit& audit)
      : ports_(ports), keys_(keys), queue_(queue), placer_(placer), audit_(audit) {}

  Answer decide(const SetLimit& c, Turn& turn);
  Answer decide(const DropLimit& c, Turn& turn);
  Answer decide(const DescribeLimits& q, Turn& turn) const;

  bool is_full(const JobHead& head, const Turn& turn) const;
  std::string held_by(const JobHead& head, const Turn& turn) const;  // as text; empty: it is not
  void park(JobId job, Turn& turn);
  void count_start(const JobHead& head, Lane* lane, Turn& turn);
  // The limit that a new job sets for its key, if it does. True: it was raised.
  bool set_by_job(const JobHead& head, int64_t limit, Turn& turn);
  // Moves jobs back to their lanes if their key has room again; they still have to be placed.
  std::vector<JobId> wake(const std::string& ns, const std::string& key, Turn& turn);

  void fold(const Put<KeyRule>& write) { keys_.set(decode_key_rule(encode(*write.row))); }
  void fold(const Erase<KeyRule>& write) { keys_.unset(write.key.first, write.key.second); }
  void fold(const Put<KeyLimitRow>& write);
  void fold(const Erase<KeyLimitRow>& write) { keys_.erase(write.key.first, write.key.second); }
  void resume(Turn& turn);
  void due(const Timer& timer, Turn& turn);
  uint64_t digest() const;

 private:
  void await_rate(const ConcurrencyKeys::Name& name, KeyState& key, Turn& turn);

  const PlacementPorts& ports_;
  ConcurrencyKeys& keys_;
  WaitingQueue& queue_;
  Placer& placer_;
  Audit& audit_;
};

}  // namespace hodei::core

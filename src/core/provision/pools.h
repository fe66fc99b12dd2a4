// Adds, changes and removes pools, and counts their workers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "src/core/provision/context.h"
#include "src/core/provision/rows.h"
#include "src/core/routing.h"

namespace hodei::core {

class Pools {
 public:
  using All = std::map<std::string, PoolRow, std::less<>>;

  explicit Pools(const ProvisionContext& context) : context_(context) {}

  Answer decide(const PutPool& c, Turn& turn);
  Answer decide(const DropPool& c, Turn& turn);
  Answer decide(const DescribePools& q, Turn& turn) const;

  const All& all() const { return all_; }
  const PoolRow* of(const Shape& shape) const;  // null: none
  uint32_t workers(const std::string& pool) const;
  bool is_full(const PoolRow* pool) const;
  bool can_spare(const LiveWorker& worker) const;
  // Whether its pool would make another in its place.
  bool needs(const Made& made) const;

  void fold(const Put<PoolRow>& write) { all_[write.row->name] = decode_pool(encode(*write.row)); }
  void fold(const Erase<PoolRow>& write) { all_.erase(write.key); }
  uint64_t digest() const;

 private:
  const ProvisionContext& context_;
  All all_;
};

}  // namespace hodei::core

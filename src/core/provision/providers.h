// Adds, changes and removes providers, and records what their health checks find.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "src/core/provision/context.h"
#include "src/core/provision/rows.h"
#include "src/core/routing.h"

namespace hodei::core {

class Providers {
 public:
  using All = std::map<std::string, LiveProvider, std::less<>>;

  explicit Providers(const ProvisionContext& context) : context_(context) {}

  Answer decide(const PutProvider& c, Turn& turn);
  Answer decide(const DropProvider& c, Turn& turn);
  Answer decide(const ProviderSeen& c, Turn& turn);
  Answer decide(const DescribeProviders& q, Turn& turn) const;

  All& all() { return all_; }
  const All& all() const { return all_; }
  // Null if there is none.
  LiveProvider* find(const std::string& name);

  // Counts workers and executions: see Makers and Suppliers.
  void count(const WorkerRecord* before, const WorkerRecord* after, size_t executions);
  void count_executions(const std::string& provider, int change);

  void fold(const Put<ProviderRow>& write);
  void fold(const Erase<ProviderRow>& write) { all_.erase(write.key); }
  uint64_t digest() const;

 private:
  void count_one(const WorkerRecord& record, size_t executions, int sign);

  const ProvisionContext& context_;
  All all_;
};

}  // namespace hodei::core

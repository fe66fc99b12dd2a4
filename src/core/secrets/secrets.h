// The module of stored secrets. The engine sees sealed bytes only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "src/core/audit/audit.h"
#include "src/core/config.h"
#include "src/core/foundation.h"
#include "src/core/routing.h"
#include "src/core/stored_facts.h"

namespace hodei::core {

class Secrets {
 public:
  explicit Secrets(const Foundation& on) : config_(on.config), audit_(on.audit) {}

  Answer decide(const PutStoredSecret& c, Turn& turn);
  Answer decide(const DropStoredSecret& c, Turn& turn);

  void fold(const Put<SecretRow>& write);
  void fold(const Erase<SecretRow>& write) { all_.erase(write.key); }
  uint64_t digest() const;

 private:
  size_t count(const std::string& ns) const;

  const EngineConfig& config_;
  Audit& audit_;
  std::map<std::pair<std::string, std::string>, StoredFacts> all_;  // by namespace and name
};

}  // namespace hodei::core

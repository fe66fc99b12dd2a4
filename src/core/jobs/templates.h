// Stored templates of jobs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "src/core/audit/audit.h"
#include "src/core/config.h"
#include "src/core/jobs/rows.h"
#include "src/core/routing.h"
#include "src/core/stored_facts.h"

namespace hodei::core {

class Templates {
 public:
  Templates(const EngineConfig& config, Audit& audit) : config_(config), audit_(audit) {}

  Answer decide(const PutJobTemplate& c, Turn& turn);
  Answer decide(const DropJobTemplate& c, Turn& turn);

  const StoredFacts* find(const std::string& ns, const std::string& name) const;

  void fold(const Put<TemplateRow>& write);
  void fold(const Erase<TemplateRow>& write) { all_.erase(write.key); }
  uint64_t digest() const;

 private:
  const EngineConfig& config_;
  Audit& audit_;
  std::map<std::pair<std::string, std::string>, StoredFacts> all_;  // by namespace and name
};

}  // namespace hodei::core

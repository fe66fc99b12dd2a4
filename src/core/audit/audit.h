// The module of the audit trail: who did what to what. Entries are written in the same batch as what they are about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/core/audit/commands.h"
#include "src/core/config.h"
#include "src/core/routing.h"

namespace hodei::core {

// How often expired entries are deleted.
inline constexpr Duration kAuditSweep = std::chrono::hours(1);

// Something that the principal of a command did.
struct Act {
  std::string_view action;
  std::string subject;
  std::string detail = {};
  std::string ns = {};
};

class Audit {
 public:
  explicit Audit(const EngineConfig& config) : config_(config) {}

  Answer decide(const RecordAudit& c, Turn& turn);

  // Sets number and time, and the principal of the envelope if the row has none.
  void record(AuditRow row, Turn& turn);
  // Records nothing if the envelope has no principal: only what somebody asked for is audited.
  void record_act(Act act, Turn& turn);

  void fold(const Put<AuditRow>& write) { next_ = write.row->number + 1; }
  void resume(Turn& turn) { next_sweep_ = turn.mono() + kAuditSweep; }
  void due(const Timer& timer, Turn& turn);
  uint64_t digest() const;
  uint64_t next_number() const { return next_; }

 private:
  const EngineConfig& config_;
  uint64_t next_ = 1;
  MonoTime next_sweep_{0};
};

}  // namespace hodei::core

#include "src/core/audit/audit.h"

#include <algorithm>
#include <utility>

#include "src/base/hash.h"

namespace hodei::core {

Answer Audit::decide(const RecordAudit& c, Turn& turn) {
  record(c.row, turn);
  return Done{};
}

void Audit::record(AuditRow row, Turn& turn) {
  if (row.principal.empty()) row.principal = turn.envelope().principal.text();
  row.number = next_;
  row.at = turn.wall();
  turn.write(Put<AuditRow>(std::move(row)));
}

void Audit::record_act(Act act, Turn& turn) {
  if (turn.envelope().principal.empty()) return;
  record({.ns = std::move(act.ns),
          .action = std::string(act.action),
          .subject = std::move(act.subject),
          .detail = std::move(act.detail)},
         turn);
}

void Audit::due(const Timer& timer, Turn& turn) {
  if (timer.kind != TimerKind::Sweep || turn.mono() < next_sweep_) return;
  next_sweep_ = turn.mono() + kAuditSweep;
  if (config_.audit_life <= Duration(0) || next_ == 1) return;
  // Rows are stamped with the wall clock. They are old when both clocks say so: it may be ahead for a while, and the
  // steady one, if it was made in that while, for years after it.
  turn.write(ExpireAudit{std::min(turn.steady(), turn.wall()) - config_.audit_life});
}

uint64_t Audit::digest() const { return mix64(~next_); }

}  // namespace hodei::core

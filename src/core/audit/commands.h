// The commands of the audit trail.
#pragma once

#include "src/core/audit/rows.h"
#include "src/core/rows/row.h"

namespace hodei::core {

struct RecordAudit {
  AuditRow row;
};  // the engine sets number and time

using AuditCommands = TypeList<RecordAudit>;

}  // namespace hodei::core

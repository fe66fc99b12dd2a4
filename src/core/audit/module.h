// What the module of the audit trail adds to the lists of the engine.
#pragma once

#include "src/core/audit/commands.h"
#include "src/core/audit/rows.h"
#include "src/core/module.h"

namespace hodei::core {

struct AuditModule : ModuleDefaults {
  using Commands = AuditCommands;
  using Rows = AuditRows;
  using Verbs = AuditVerbs;
};

}  // namespace hodei::core

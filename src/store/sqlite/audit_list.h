// The audit trail, newest first.
#pragma once

#include "src/store/sqlite/connection.h"
#include "src/store/store.h"

namespace hodei::store {

absl::StatusOr<AuditPage> list_audit(Connection& db, const AuditQuery& query, const ReadLimit& limit);

}  // namespace hodei::store

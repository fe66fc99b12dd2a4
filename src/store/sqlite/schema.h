// Brings a SQLite database to the schema of this binary, in one transaction.
#pragma once

#include "absl/status/status.h"
#include "src/store/schema.h"
#include "src/store/sqlite/connection.h"

namespace hodei::store {

absl::Status bring_up_to_date(Connection& db, const Schema& schema);

}  // namespace hodei::store

// Reads all live state as a sequence of writes, in the order that Store::load promises.
#pragma once

#include "absl/status/status.h"
#include "src/store/sqlite/connection.h"
#include "src/store/store.h"

namespace hodei::store {

absl::Status load_everything(Connection& db, const LoadVisitor& visit);

}  // namespace hodei::store

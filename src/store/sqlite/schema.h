// Brings a database to the schema of this binary.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "src/store/sqlite/connection.h"

namespace hodei::store {

// One step forward: the statements that turn version `to - 1` into version `to`.
struct Migration {
  int to = 0;
  std::vector<std::string> sql;
  std::function<absl::Status(Connection&)> then;  // what SQL cannot say; null: nothing
};

// A new database gets the tables of tables.h at once; an older one goes step by step, in one transaction; a newer one
// is refused, because this binary could not keep its promises.
absl::Status bring_up_to_date(Connection& db);
absl::Status bring_up_to_date(Connection& db, std::span<const Migration> migrations, int version);

}  // namespace hodei::store

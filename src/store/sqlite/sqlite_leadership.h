// Leadership of a data folder. Whoever has opened its store holds the lock of the folder until the process ends,
// however it ends, so a term needs no lease: it is valid as long as the lock is held. The epoch is the row that every
// commit checks.
#pragma once

#include <string>

#include "src/store/leadership.h"
#include "src/store/sqlite/sqlite_store.h"

namespace hodei::store {

class SqliteLeadership final : public Leadership {
 public:
  explicit SqliteLeadership(SqliteStore& store) : store_(store) {}

  absl::StatusOr<Term> campaign(const std::string& address) override;
  absl::StatusOr<Term> renew(const Term& term) override;
  // The lock stays until the store is closed.
  absl::Status resign(const Term& term) override;
  // Only the process that has the lock can ask, so the leader is this server or nobody.
  absl::StatusOr<std::optional<Leader>> leader() override;

 private:
  SqliteStore& store_;
  std::optional<Leader> self_;  // while this server leads
};

}  // namespace hodei::store

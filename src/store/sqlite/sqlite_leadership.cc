#include "src/store/sqlite/sqlite_leadership.h"

#include "src/base/status.h"
#include "src/store/refusals.h"

namespace hodei::store {

absl::StatusOr<Term> SqliteLeadership::campaign(const std::string& address) {
  if (self_) return another_leads(self_->address);
  ASSIGN_OR_RETURN(const Epoch epoch, store_.new_epoch());
  self_ = Leader{epoch, address};
  return Term{epoch, kNever};
}

absl::StatusOr<Term> SqliteLeadership::renew(const Term& term) {
  ASSIGN_OR_RETURN(const Epoch stored, store_.epoch());
  if (self_ && self_->epoch == term.epoch && stored == term.epoch) return Term{term.epoch, kNever};
  if (self_ && self_->epoch != stored) self_.reset();
  return term_has_ended(term.epoch, stored);
}

absl::Status SqliteLeadership::resign(const Term& term) {
  if (self_ && self_->epoch == term.epoch) self_.reset();
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Leader>> SqliteLeadership::leader() { return self_; }

}  // namespace hodei::store

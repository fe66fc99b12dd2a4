#include "tests/sim/lease.h"

#include "src/base/status.h"

namespace hodei::sim {

absl::StatusOr<Term> Lease::campaign(const std::string& server) {
  const MonoTime now = world_.now().mono;
  if (now < term_.valid_until) return absl::FailedPreconditionError(cat(holder_, " leads"));
  ASSIGN_OR_RETURN(const store::Epoch epoch, store_.new_epoch());
  holder_ = server;
  term_ = {epoch, now + length_};
  checker_.leaders().began(server, epoch, term_.valid_until);
  return term_;
}

absl::StatusOr<Term> Lease::renew(const Term& term) {
  if (term.epoch != term_.epoch) return absl::AbortedError(cat(holder_, " has taken over"));
  term_.valid_until = world_.now().mono + length_;
  checker_.leaders().renewed(term.epoch, term_.valid_until);
  return term_;
}

void Lease::let_go(const std::string& server) {
  if (length_ < kForEver || holder_ != server) return;
  term_.valid_until = world_.now().mono;
  checker_.leaders().renewed(term_.epoch, term_.valid_until);
}

}  // namespace hodei::sim

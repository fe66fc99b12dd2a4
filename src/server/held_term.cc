#include "src/server/held_term.h"

#include <utility>

#include "src/base/journal.h"
#include "src/base/status.h"

namespace hodei::server {
namespace {

// In the time for which a term is granted.
constexpr int kRenewalsPerTerm = 3;
constexpr Duration kRenewAgainAfter = 250ms;

absl::Status has_lost() { return absl::AbortedError("this server has lost its term; another one may lead now"); }

}  // namespace

absl::Status HeldTerm::begin(const std::string& address) {
  if (lost_) return has_lost();
  const MonoTime asked = clock_.now().mono;
  ASSIGN_OR_RETURN(const store::Term term, leadership_.campaign(address));
  accept(term, asked);
  return absl::OkStatus();
}

void HeldTerm::accept(const store::Term& term, MonoTime asked) {
  term_ = term;
  renew_at_ = term.valid_until == kNever ? kNever : asked + (term.valid_until - asked) / kRenewalsPerTerm;
}

absl::Status HeldTerm::renew() {
  if (lost_) return has_lost();
  const MonoTime asked = clock_.now().mono;
  const absl::StatusOr<store::Term> term = leadership_.renew(term_);
  if (term.ok()) {
    accept(*term, asked);
    return absl::OkStatus();
  }
  lost_ = absl::IsAborted(term.status());
  renew_at_ = lost_ || renew_at_ == kNever ? kNever : clock_.now().mono + kRenewAgainAfter;
  return term.status();
}

absl::Status HeldTerm::renew_if_due() {
  if (lost_) return has_lost();
  return clock_.now().mono < renew_at_ ? absl::OkStatus() : renew();
}

void HeldTerm::resign() {
  if (term_.epoch == store::Epoch{} || std::exchange(lost_, true)) return;
  const absl::Status done = leadership_.resign(term_);
  if (!done.ok()) journal(Level::Warn, "server", "could not resign: ", std::string(done.message()));
}

}  // namespace hodei::server

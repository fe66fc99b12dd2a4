// Who leads, as a lease in virtual time: the verbs of the leadership port, and nothing else of it. A term that has run
// out can be renewed as long as nobody else has begun one; a term that has ended never comes back.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "src/store/store.h"
#include "tests/sim/checker.h"
#include "tests/sim/world.h"

namespace hodei::sim {

struct Term {
  store::Epoch epoch{};
  MonoTime valid_until{0};
};

class Lease {
 public:
  // `length` kForEver: as a lock, which ends with its process.
  static constexpr Duration kForEver = std::chrono::hours(24 * 365 * 100);
  Lease(World& world, Checker& checker, store::Store& store, Duration length)
      : world_(world), checker_(checker), store_(store), length_(length) {}

  absl::StatusOr<Term> campaign(const std::string& server);  // FAILED_PRECONDITION: another one leads
  absl::StatusOr<Term> renew(const Term& term);              // ABORTED: it has ended, for good
  void let_go(const std::string& server);                    // its process has died; only a lock notices
  bool is_newest(store::Epoch epoch) const { return epoch == term_.epoch; }

 private:
  World& world_;
  Checker& checker_;
  store::Store& store_;
  const Duration length_;
  std::string holder_;
  Term term_;
};

}  // namespace hodei::sim

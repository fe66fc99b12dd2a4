// Leadership as a lease in memory, for tests and the simulator: several servers campaign for one store, and time is
// whatever their clock says.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "src/store/leadership.h"

namespace hodei::store {

// What the servers share: who has the lease, as the one who grants it sees it.
struct MemoryLease {
  std::mutex mutex;  // guards what follows
  Epoch epoch{};
  std::string address;
  MonoTime until{0};  // nobody leads from then on
};

class MemoryLeadership final : public Leadership {
 public:
  struct Options {
    // How long a term lasts without renewal. kForEver: until it is resigned, as with a lock.
    Duration lease = kForEver;
    // Called between the request and its arrival at the lease; a test lets time pass in it, or fails the call.
    std::function<absl::Status()> on_the_way = nullptr;
  };
  static constexpr Duration kForEver = Duration::max();

  // `store` is the one whose commits the epoch guards.
  MemoryLeadership(MemoryLease& lease, Store& store, const Clock& clock) : MemoryLeadership(lease, store, clock, {}) {}
  MemoryLeadership(MemoryLease& lease, Store& store, const Clock& clock, Options options)
      : lease_(lease), store_(store), clock_(clock), options_(std::move(options)) {}

  absl::StatusOr<Term> campaign(const std::string& address) override;
  absl::StatusOr<Term> renew(const Term& term) override;
  absl::Status resign(const Term& term) override;
  absl::StatusOr<std::optional<Leader>> leader() override;

 private:
  MonoTime end_of_lease(MonoTime from) const;
  absl::Status travel() const;

  MemoryLease& lease_;
  Store& store_;
  const Clock& clock_;
  const Options options_;
};

}  // namespace hodei::store

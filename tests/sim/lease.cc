#include "tests/sim/lease.h"

#include "src/base/status.h"
#include "tests/sim/server_node.h"

namespace hodei::sim {

WatchedLeadership::WatchedLeadership(ServerNode& node)
    : node_(node),
      memory_(node.shared().lease, node.shared().store, node.world(), {.lease = node.shared().lease_length}) {}

absl::StatusOr<store::Term> WatchedLeadership::campaign(const std::string& address) {
  if (node_.store_is_away()) return absl::UnavailableError("simulated outage");
  ASSIGN_OR_RETURN(const store::Term term, memory_.campaign(address));
  node_.checker().lives().server_died();  // for all that the next one knows
  node_.checker().leaders().began(node_.name(), term.epoch, node_.shared().lease.until);
  return term;
}

absl::StatusOr<store::Term> WatchedLeadership::renew(const store::Term& term) {
  if (node_.store_is_away()) return absl::UnavailableError("simulated outage");
  ASSIGN_OR_RETURN(const store::Term renewed, memory_.renew(term));
  node_.checker().leaders().renewed(renewed.epoch, node_.shared().lease.until);
  return renewed;
}

absl::Status WatchedLeadership::resign(const store::Term& term) { return memory_.resign(term); }

absl::StatusOr<std::optional<store::Leader>> WatchedLeadership::leader() { return memory_.leader(); }

void WatchedLeadership::process_died() {
  store::MemoryLease& lease = node_.shared().lease;
  if (node_.shared().lease_length != store::MemoryLeadership::kForEver || lease.address != node_.name()) return;
  lease.until = node_.world().now().mono;
  node_.checker().leaders().renewed(lease.epoch, lease.until);
}

}  // namespace hodei::sim

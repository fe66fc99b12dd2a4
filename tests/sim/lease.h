// Who leads: the leadership port over a lease that all servers share, with a store that may be away, and a checker that
// looks on.
#pragma once

#include <string>

#include "src/store/memory/memory_leadership.h"

namespace hodei::sim {

class ServerNode;

class WatchedLeadership final : public store::Leadership {
 public:
  explicit WatchedLeadership(ServerNode& node);

  absl::StatusOr<store::Term> campaign(const std::string& address) override;
  absl::StatusOr<store::Term> renew(const store::Term& term) override;
  absl::Status resign(const store::Term& term) override;
  absl::StatusOr<std::optional<store::Leader>> leader() override;

  // The process has died. Only a lock notices: a lease runs out.
  void process_died();

 private:
  ServerNode& node_;
  store::MemoryLeadership memory_;
};

}  // namespace hodei::sim

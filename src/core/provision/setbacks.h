// Handles workers that could not be created. Their provider backs off, or is not asked again for the same shape for a
// while.
#pragma once

#include <string>

#include "src/core/provision/context.h"

namespace hodei::core {

class Setbacks {
 public:
  explicit Setbacks(const ProvisionContext& context) : context_(context) {}

  void give_up(LiveWorker& worker, MakingFailure kind, const std::string& reason, Turn& turn);
  void withdraw(LiveWorker& worker, Turn& turn);
  void destroy(LiveWorker& worker, Turn& turn);
  void note_unfit(const LiveWorker& worker, const std::string& shape, Turn& turn);

  void back_off(const std::string& provider, MakingFailure kind, const std::string& reason, const Turn& turn);
  void refuse(const std::string& provider, const std::string& shape, MakingFailure kind, const std::string& reason,
              const Turn& turn);

 private:
  const ProvisionContext& context_;
};

}  // namespace hodei::core

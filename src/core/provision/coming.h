// Counts the workers that are being created, for a shape and for a provider.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/core/provision/context.h"

namespace hodei::core {

class Coming {
 public:
  explicit Coming(const ProvisionContext& context) : context_(context) {}

  // Slots of workers being created for jobs of this shape and namespace.
  uint32_t slots_for(const Shape& shape, const std::string& ns) const;
  uint32_t starting(const std::string& provider) const;  // not counting those that are held up
  uint32_t held_up(const std::string& provider) const;
  bool too_many_held_up(const std::string& provider, const Shape& shape) const;
  // The first job of these lanes that no worker on its way is for.
  JobId unclaimed(const std::vector<const Lane*>& lanes) const;

 private:
  const ProvisionContext& context_;
};

}  // namespace hodei::core

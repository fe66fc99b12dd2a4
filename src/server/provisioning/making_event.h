// What happened to a worker that a provider was to make, for whoever counts.
#pragma once

#include <functional>
#include <string>

#include "src/base/time.h"

namespace hodei::server {

struct MakingEvent {
  enum class What { Made, Failed, Registered, Destroyed };
  What what{};
  std::string provider;
  Duration took{0};  // since the engine asked
};

using OnMaking = std::function<void(const MakingEvent&)>;

}  // namespace hodei::server

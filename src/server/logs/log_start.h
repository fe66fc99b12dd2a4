// Where a reader begins who wants only the last lines, or those since a time. Found through the store's index, without
// reading what comes before.
#pragma once

#include "src/server/logs/log_types.h"

namespace hodei::server {

struct LogStart {
  uint32_t execution = 0;
  int64_t offset = 0;

  auto operator<=>(const LogStart&) const = default;
};

// Nothing: at the beginning. Of two wishes the later place counts.
absl::StatusOr<std::optional<LogStart>> find_start(const store::NumberedLogStore& store,
                                                   const SubscribeRequest& request);

}  // namespace hodei::server

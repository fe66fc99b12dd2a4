// The state of the whole installation (docs/semantics.md#system-state), from what is known right now.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/base/time.h"

namespace hodei::server {

enum class SystemState : uint8_t { Initializing = 1, Ready, Running, Degraded, Critical, Shutdown };

struct SystemFacts {
  bool loaded = false;
  bool stopping = false;
  bool commits = true;         // the last one worked
  std::string trouble;         // of the store
  Duration slowest_commit{0};  // of late
  int64_t active = 0;          // executions
  int64_t workers = 0;
  int64_t unhealthy = 0;
  std::string provider_trouble;  // of one that is wanted and unhealthy; empty: there is none
};

struct SystemAssessment {
  SystemState state = SystemState::Initializing;
  std::string reason;
};

inline constexpr Duration kSlowCommit = 1s;

std::string_view name(SystemState state);
SystemAssessment assess(const SystemFacts& facts);

}  // namespace hodei::server

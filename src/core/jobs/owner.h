// Who a job belongs to. A job that a module has submitted belongs to something of that module: a task of a run, a
// target of a poll. The module is told of the job's end in the same decision.
#pragma once

#include <compare>
#include <cstdint>

namespace hodei::core {

// Modules that own jobs, by number. A module that owns jobs has its number in its module.h.
enum class OwnerModule : uint8_t { None = 0 };

struct Owner {
  OwnerModule module = OwnerModule::None;
  uint64_t id = 0;

  bool is_set() const { return module != OwnerModule::None; }
  auto operator<=>(const Owner&) const = default;
};

}  // namespace hodei::core

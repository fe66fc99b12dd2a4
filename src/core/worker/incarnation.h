// One start of a worker's supervisor, and what it may say about the executions of the start before it.
//
// Starts on one state folder, of one machine, between two of its reboots, form a lineage. Each of them holds the
// folder's lock and has killed what it found of its predecessors before it says hello, so a later generation of a
// lineage is proof that whatever an earlier one ran is gone. Nothing else is: neither a new token nor a copy of the
// folder ends anything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hodei::core {

struct Incarnation {
  std::string id;       // random, new at each start
  std::string lineage;  // empty: the worker names none
  uint64_t generation = 0;

  bool operator==(const Incarnation&) const = default;
};

// Whether `now` may say what became of the executions of `before`: it is the same start, or a later one of its lineage,
// or there was none before.
bool speaks_for(const Incarnation& now, const Incarnation& before);

// The column form. What earlier versions wrote is an id alone.
std::string to_text(const Incarnation& incarnation);
Incarnation parse_incarnation(std::string_view text);

}  // namespace hodei::core

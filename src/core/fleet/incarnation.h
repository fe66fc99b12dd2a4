// One start of a worker's supervisor, and whether it can vouch for the executions of the previous start.
//
// All starts on one state folder, on one machine, between two reboots form a lineage. Each start holds the folder's
// lock and kills what its predecessors left running before it says hello. So a later generation of a lineage proves
// that what an earlier one ran is gone. Nothing else proves it: neither a new token nor a copy of the folder ends a
// process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hodei::core {

struct Incarnation {
  std::string id;       // random, new at each start
  std::string lineage;  // empty: none
  uint64_t generation = 0;

  bool operator==(const Incarnation&) const = default;
};

// Whether `now` knows what became of the executions of `before`: it is the same start, or a later one of the same
// lineage, or there was none before.
bool speaks_for(const Incarnation& now, const Incarnation& before);

// How it is stored. Earlier versions wrote only the id.
std::string to_text(const Incarnation& incarnation);
Incarnation parse_incarnation(std::string_view text);

}  // namespace hodei::core

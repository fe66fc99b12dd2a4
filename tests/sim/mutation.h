// Which planted fault is switched on; only the copies of product sources that plant_mutations writes ask for it.
#pragma once

namespace hodei::sim {

inline int active_mutation = 0;  // 0: none

inline bool mutated(int number) { return active_mutation == number; }

}  // namespace hodei::sim

// How many descriptors a process may have: as many as it is allowed to.
#pragma once

namespace hodei {

// Shells start programs with 1024, whatever the hard limit is. Children inherit it.
void raise_descriptor_limit();

}  // namespace hodei

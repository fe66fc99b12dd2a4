// Raises the number of file descriptors of this process to its hard limit.
#pragma once

namespace hodei {

// Shells start programs with 1024, whatever the hard limit is. Children inherit it.
void raise_descriptor_limit();

}  // namespace hodei

// Random values from the operating system, for tokens, session ids and correlation ids. No decision uses them.
#pragma once

#include <cstdint>
#include <string>

namespace hodei {

uint64_t random_u64();
std::string random_uuid();  // version 4

}  // namespace hodei

// Sizes in bytes the way people read them: "512 B", "512 MiB", "23.5 GiB". Every size in a message is made here.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace hodei {

// In powers of 1024, with one decimal where the number is not whole.
std::string size_text(int64_t bytes);
// What the core and the API count in: 1 MB there is 1 MiB.
inline std::string megabytes_text(int64_t megabytes) { return size_text(megabytes << 20); }

// Two sizes that are compared: so exact that they differ where the sizes do ("1024 MiB", "1025 MiB").
std::pair<std::string, std::string> megabytes_apart(int64_t a, int64_t b);

}  // namespace hodei

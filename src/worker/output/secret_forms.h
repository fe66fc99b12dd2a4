// The forms in which a secret may turn up in output: as it is, line by line, URL-encoded, inside JSON; in base64, also
// twice, and as hexadecimal digits, where line breaks and what separates bytes may stand anywhere.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "src/worker/output/mask.h"

namespace hodei::worker {

// Shorter values, and shorter lines of a value, are not looked for: they would turn up by chance everywhere.
inline constexpr size_t kShortestMasked = 6;

// Long texts are looked for piece by piece: whoever prints all of one prints its pieces one after another.
inline constexpr size_t kPiece = 64;

// Base64 of base64, and hexadecimal digits with `0x` or `\u00` before each byte, take much memory and are rare: only so
// many bytes of values, all together, are looked for in them. Values that find no room, in the order of their names,
// are left out.
inline constexpr size_t kMostRareForms = 4096;

// Those that are looked for in one way.
std::set<std::string> secret_forms(const std::map<std::string, std::string>& secrets, Reading reading);

// What finds them all. Null: there is nothing to look for. With 64 KiB of secrets this takes a good while and some
// megabytes.
std::shared_ptr<const Mask> mask_for(const std::map<std::string, std::string>& secrets);

}  // namespace hodei::worker

// The forms in which a secret may turn up in output: as it is, line by line, in base64, URL-encoded, inside JSON.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "src/worker/automaton.h"

namespace hodei::worker {

// Shorter values, and shorter lines of a value, are not looked for: they would turn up by chance everywhere.
inline constexpr size_t kShortestMasked = 6;

// Long texts are looked for piece by piece: whoever prints all of one prints its pieces one after another.
inline constexpr size_t kPiece = 64;

std::set<std::string> secret_forms(const std::map<std::string, std::string>& secrets);

// What finds them all. Null: there is nothing to look for.
std::shared_ptr<const Automaton> mask_for(const std::map<std::string, std::string>& secrets);

}  // namespace hodei::worker

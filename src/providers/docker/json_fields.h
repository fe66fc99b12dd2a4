// Reads the engine's JSON defensively: a field that is missing or has another type is empty. Nothing throws.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace hodei::providers::docker {

using Json = nlohmann::json;

// Discarded when it is not JSON; the fields of such a value read as empty too.
inline Json parse_json(std::string_view text) { return Json::parse(text, nullptr, false); }

inline const Json& field(const Json& from, const char* name) {
  static const Json kNothing;
  if (!from.is_object()) return kNothing;
  const auto it = from.find(name);
  return it == from.end() ? kNothing : *it;
}

inline std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }
inline std::string text(const Json& from, const char* name) { return text_of(field(from, name)); }

inline int64_t number(const Json& from, const char* name) {
  const Json& value = field(from, name);
  return value.is_number_integer() ? value.get<int64_t>() : 0;
}

inline bool flag(const Json& from, const char* name, bool absent = false) {
  const Json& value = field(from, name);
  return value.is_boolean() ? value.get<bool>() : absent;
}

// StringMap that come from elsewhere may not be UTF-8, which dump() would throw about.
inline std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace hodei::providers::docker

// Reads fields of foreign JSON: a field that is missing or has another type counts as absent.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace hodei::providers::kubernetes {

inline const nlohmann::json& at(const nlohmann::json& object, const char* key) {
  static const nlohmann::json kNothing;
  if (!object.is_object()) return kNothing;
  const auto it = object.find(key);
  return it == object.end() ? kNothing : *it;
}

inline std::string text(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = at(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

inline int64_t number(const nlohmann::json& object, const char* key) {
  const nlohmann::json& value = at(object, key);
  return value.is_number_integer() ? value.get<int64_t>() : 0;
}

}  // namespace hodei::providers::kubernetes

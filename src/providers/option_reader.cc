#include "src/providers/option_reader.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "src/base/status.h"

namespace hodei::providers {

const std::string* OptionReader::find(const std::string& name) {
  known_.insert(name);
  const auto found = config_.options.find(name);
  return found == config_.options.end() ? nullptr : &found->second;
}

void OptionReader::refuse(const std::string& name, const std::string& why) {
  if (wrong_.ok()) wrong_ = absl::InvalidArgumentError(cat("option ", name, " of provider ", config_.name, ": ", why));
}

std::string OptionReader::text(const std::string& name, std::string fallback) {
  const std::string* value = find(name);
  return value == nullptr ? std::move(fallback) : *value;
}

uint32_t OptionReader::number(const std::string& name, uint32_t fallback, uint32_t least, uint32_t most) {
  const std::string* value = find(name);
  if (value == nullptr) return fallback;
  uint32_t out = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), out);
  if (error == std::errc() && end == value->data() + value->size() && out >= least && out <= most) return out;
  refuse(name, cat("'", *value, "' is not a number from ", least, " to ", most));
  return fallback;
}

bool OptionReader::yes_or_no(const std::string& name, bool fallback) {
  const std::string* value = find(name);
  if (value == nullptr) return fallback;
  if (*value == "true" || *value == "1") return true;
  if (*value != "false" && *value != "0") refuse(name, cat("'", *value, "' is neither true nor false"));
  return false;
}

Duration OptionReader::time(const std::string& name, Duration fallback, Duration most) {
  const std::string* value = find(name);
  if (value == nullptr) return fallback;
  char* end = nullptr;
  const double amount = std::strtod(value->c_str(), &end);
  const std::string unit = end;
  const double scale = unit == "ms" ? 1e3 : unit.empty() || unit == "s" ? 1e6 : unit == "m" ? 60e6 : 0;
  const double us = amount * scale;
  if (end != value->c_str() && scale > 0 && std::isfinite(us) && us >= 0 && us <= static_cast<double>(most.count())) {
    return Duration(static_cast<int64_t>(us));
  }
  refuse(name, cat("'", *value, "' is not a time such as 500ms, 2s or 3m, of at most ",
                   std::chrono::duration_cast<std::chrono::seconds>(most).count(), "s"));
  return fallback;
}

std::vector<std::string> OptionReader::list(const std::string& name) {
  std::vector<std::string> out;
  std::string_view rest;
  if (const std::string* value = find(name)) rest = *value;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    if (comma == 0) refuse(name, "contains an empty entry between commas");
    out.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return out;
}

StringMap OptionReader::below(const std::string& prefix) {
  StringMap out;
  known_.insert(prefix + "*");
  for (const auto& [name, value] : config_.options) {
    if (!name.starts_with(prefix)) continue;
    known_.insert(name);
    if (name.size() == prefix.size()) refuse(name, "a name is missing after the dot");
    out[name.substr(prefix.size())] = value;
  }
  return out;
}

absl::Status OptionReader::finish() const {
  RETURN_IF_ERROR(wrong_);
  for (const auto& [name, value] : config_.options) {
    if (known_.contains(name)) continue;
    std::string known;
    for (const std::string& each : known_) known += cat(known.empty() ? "" : ", ", each);
    return absl::InvalidArgumentError(cat("option ", name, " of provider ", config_.name, ": type ", config_.type,
                                          " has no such option; the options are ", known));
  }
  return absl::OkStatus();
}

}  // namespace hodei::providers

#include "src/base/child_environment.h"

#include <algorithm>

#include "src/base/text.h"

extern char** environ;

namespace hodei {

bool is_own_setting(std::string_view name) {
  constexpr std::string_view kOthers[] = {"DATABASE_URL", "GRPC_PORT", "HTTP_PORT", "TRACEPARENT"};
  return name.starts_with("HODEI_") || name.starts_with("OTEL_EXPORTER_OTLP_") ||
         std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers);
}

ChildEnvironment::ChildEnvironment(std::initializer_list<std::string_view> kept,
                                   const std::map<std::string, std::string>& added) {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view pair = *entry;
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    const std::string_view name = pair.substr(0, equals);
    const bool passes = !is_own_setting(name) || std::find(kept.begin(), kept.end(), name) != kept.end();
    if (passes) all.emplace(name, pair.substr(equals + 1));
  }
  for (const auto& [name, value] : added) all[name] = value;
  for (const auto& [name, value] : all) pairs_.push_back(cat(name, "=", value));
  for (std::string& pair : pairs_) pointers_.push_back(pair.data());
  pointers_.push_back(nullptr);
}

}  // namespace hodei

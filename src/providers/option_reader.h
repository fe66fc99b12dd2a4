// Reads the options of a provider by name and type. At the end, options that nobody has read are refused.
#pragma once

#include <set>
#include <string>

#include "src/providers/provider.h"

namespace hodei::providers {

class OptionReader {
 public:
  explicit OptionReader(const ProviderConfig& config) : config_(config) {}

  std::string text(const std::string& name, std::string fallback);
  uint32_t number(const std::string& name, uint32_t fallback, uint32_t least, uint32_t most);
  bool yes_or_no(const std::string& name, bool fallback);
  // 500ms, 2s, 1.5s, 3m; a plain number is seconds.
  Duration time(const std::string& name, Duration fallback, Duration most);
  // StringMap between commas.
  std::vector<std::string> list(const std::string& name);
  // Options whose names begin so, without that beginning.
  StringMap below(const std::string& prefix);
  void refuse(const std::string& name, const std::string& why);

  // The first error, or an option that does not exist.
  absl::Status finish() const;

 private:
  const std::string* find(const std::string& name);

  const ProviderConfig& config_;
  std::set<std::string> known_;
  absl::Status wrong_;
};

}  // namespace hodei::providers

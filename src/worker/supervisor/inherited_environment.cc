#include "src/worker/supervisor/inherited_environment.h"

#include <algorithm>

#include "src/base/child_environment.h"

namespace hodei::worker {
namespace {

constexpr std::string_view kPath = "PATH=";
constexpr std::string_view kDefaultPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

std::string_view name_of(std::string_view pair) { return pair.substr(0, pair.find('=')); }

bool by_name(std::string_view a, std::string_view b) { return name_of(a) < name_of(b); }

// Of the pairs of an ordered list, the one with the same name.
auto find(const std::vector<std::string>& pairs, std::string_view pair) {
  const auto it = std::lower_bound(pairs.begin(), pairs.end(), pair, by_name);
  return it != pairs.end() && name_of(*it) == name_of(pair) ? it : pairs.end();
}

}  // namespace

InheritedEnvironment::InheritedEnvironment(char** environment) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view pair = *environment;
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos && equals > 0 && !is_own_setting(pair.substr(0, equals)))
      pairs_.emplace_back(pair);
  }
  pairs_.emplace_back(kDefaultPath);
  std::stable_sort(pairs_.begin(), pairs_.end(), by_name);
  pairs_.erase(
      std::unique(pairs_.begin(), pairs_.end(), [](const auto& a, const auto& b) { return name_of(a) == name_of(b); }),
      pairs_.end());
}

std::vector<char*> InheritedEnvironment::with(std::vector<std::string>& own) const {
  std::vector<char*> out;
  out.reserve(pairs_.size() + own.size() + 1);
  // execve takes pointers that it could write through, and does not.
  for (const std::string& pair : pairs_) out.push_back(const_cast<char*>(pair.c_str()));
  for (std::string& pair : own) {
    const auto same = find(pairs_, pair);
    if (same == pairs_.end()) {
      out.push_back(pair.data());
    } else {
      out[static_cast<size_t>(same - pairs_.begin())] = pair.data();
    }
  }
  out.push_back(nullptr);
  return out;
}

std::string_view InheritedEnvironment::path(const std::vector<std::string>& own) const {
  for (const std::string& pair : own) {
    if (pair.starts_with(kPath)) return std::string_view(pair).substr(kPath.size());
  }
  const auto found = find(pairs_, kPath);
  return std::string_view(found == pairs_.end() ? kDefaultPath : *found).substr(kPath.size());
}

}  // namespace hodei::worker

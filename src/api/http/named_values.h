// Names with their values, in the order in which they came: headers, parameters of a query and of a path. A name may
// come more than once. They are few, so they are searched one after the other.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hodei::api {

template <class Same>
class NamedValues {
 public:
  using Entry = std::pair<std::string, std::string>;

  NamedValues() = default;
  NamedValues(std::initializer_list<Entry> entries) : entries_(entries) {}

  void add(std::string name, std::string value) { entries_.emplace_back(std::move(name), std::move(value)); }

  // The first value of that name.
  std::optional<std::string_view> find(std::string_view name) const {
    for (const Entry& entry : entries_) {
      if (Same()(entry.first, name)) return entry.second;
    }
    return std::nullopt;
  }
  // Empty when there is none.
  std::string_view get(std::string_view name) const { return find(name).value_or(std::string_view()); }
  std::vector<std::string_view> all(std::string_view name) const {
    std::vector<std::string_view> out;
    for (const Entry& entry : entries_) {
      if (Same()(entry.first, name)) out.push_back(entry.second);
    }
    return out;
  }

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  bool operator==(const NamedValues&) const = default;

 private:
  std::vector<Entry> entries_;
};

// As HTTP compares names of headers.
struct SameInAnyCase {
  bool operator()(std::string_view a, std::string_view b) const;
};

using Parameters = NamedValues<std::equal_to<>>;
using HttpHeaders = NamedValues<SameInAnyCase>;

}  // namespace hodei::api

// What is stored about placement: the shares of tenants, the limits of concurrency keys, the scheduler's settings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "src/core/placement/config.h"
#include "src/core/placement/key_rule.h"
#include "src/core/placement/tenant.h"
#include "src/core/rows/row.h"

namespace hodei::core {

// The limit of a concurrency key as set by jobs.
struct KeyLimitRow {
  std::string ns;
  std::string key;
  int64_t limit = 1;

  bool operator==(const KeyLimitRow&) const = default;
};

template <>
struct RowType<KeyLimitRow> : RowDefaults {
  static constexpr std::string_view table = "key_limit";
  // `limit` is a word of SQL.
  static constexpr auto columns = std::tuple(column::key("ns", &KeyLimitRow::ns), column::key("key", &KeyLimitRow::key),
                                             column::value("max_active", &KeyLimitRow::limit));
};

template <>
struct RowType<TenantRow> : RowDefaults {
  static constexpr std::string_view table = "tenant";
  static constexpr auto columns =
      std::tuple(column::key("ns", &TenantRow::ns), column::whole<TenantRow, decode_tenant>("bytes"));
};

template <>
struct RowType<KeyRule> : RowDefaults {
  static constexpr std::string_view table = "key_rule";
  static constexpr auto columns = std::tuple(column::key("ns", &KeyRule::ns), column::key("key", &KeyRule::key),
                                             column::whole<KeyRule, decode_key_rule>("bytes"));
};

// There is one of it, so it has no table.
struct PutScheduler {
  SchedulerConfig config;
};

using PlacementRows = TypeList<TenantRow, KeyRule, KeyLimitRow>;
using PlacementVerbs = TypeList<PutScheduler>;

}  // namespace hodei::core

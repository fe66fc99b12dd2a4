// What is stored about providers and pools.
#pragma once

#include <string_view>
#include <tuple>

#include "src/core/provision/provision.h"
#include "src/core/rows/row.h"

namespace hodei::core {

template <>
struct RowType<ProviderRow> : RowDefaults {
  static constexpr std::string_view table = "provider";
  static constexpr auto columns =
      std::tuple(column::key("name", &ProviderRow::name), column::whole<ProviderRow, decode_provider>("bytes"));
};

template <>
struct RowType<PoolRow> : RowDefaults {
  static constexpr std::string_view table = "pool";
  static constexpr auto columns =
      std::tuple(column::key("name", &PoolRow::name), column::whole<PoolRow, decode_pool>("bytes"));
};

using ProvisionRows = TypeList<ProviderRow, PoolRow>;

}  // namespace hodei::core

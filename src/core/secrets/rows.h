// What is stored about secrets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "src/base/time.h"
#include "src/core/rows/row.h"

namespace hodei::core {

// A secret in the server's store. Only src/server/secrets can decrypt it.
struct SecretRow {
  std::string ns;
  std::string name;
  int64_t revision = 0;
  WallTime updated;
  std::string sealed;

  bool operator==(const SecretRow&) const = default;
};

template <>
struct RowType<SecretRow> : RowDefaults {
  static constexpr std::string_view table = "secret";
  static constexpr auto columns =
      std::tuple(column::key("ns", &SecretRow::ns), column::key("name", &SecretRow::name),
                 column::value("revision", &SecretRow::revision), column::value("updated", &SecretRow::updated),
                 column::bytes("sealed", &SecretRow::sealed));
};

using SecretRows = TypeList<SecretRow>;

}  // namespace hodei::core

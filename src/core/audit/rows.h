// What is stored about who did what.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "src/base/time.h"
#include "src/core/rows/row.h"

namespace hodei::core {

// Who did what to what. Written once, never changed.
struct AuditRow {
  uint64_t number = 0;  // increases; never reused
  WallTime at;
  std::string ns;
  std::string principal;
  std::string action;
  std::string subject;
  std::string detail;

  bool operator==(const AuditRow&) const = default;
};

template <>
struct RowType<AuditRow> : RowDefaults {
  static constexpr std::string_view table = "audit";
  static constexpr auto columns = std::tuple(
      column::key("number", &AuditRow::number), column::value("at", &AuditRow::at), column::value("ns", &AuditRow::ns),
      column::value("principal", &AuditRow::principal), column::value("action", &AuditRow::action),
      column::value("subject", &AuditRow::subject), column::value("detail", &AuditRow::detail));
  static constexpr std::string_view check = "number > 0";
  static constexpr Writing writing = Writing::Once;
  static constexpr Loading loading = Loading::LastKeyOnly;
};

struct ExpireAudit {
  WallTime before;
};  // the newest entry always stays, because it holds the number

using AuditRows = TypeList<AuditRow>;
using AuditVerbs = TypeList<ExpireAudit>;

}  // namespace hodei::core

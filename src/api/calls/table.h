// The table of all calls.
#pragma once

#include <string>
#include <vector>

#include "src/api/calls/line.h"

namespace hodei::api {

enum class CallKind : uint8_t { Unary = 1, Source, ByHand };

struct TableLine {
  std::string_view service;  // hodei.v1.JobExecutionService
  CallLine line;
  CallKind kind{};
};

const std::vector<TableLine>& call_table();

}  // namespace hodei::api

// Spans in the JSON form of OTLP, as every OpenTelemetry collector takes it at /v1/traces.
#pragma once

#include <string>
#include <vector>

#include "src/server/tracing/spans.h"

namespace hodei::server {

std::string otlp_json(const std::vector<Span>& spans);

}  // namespace hodei::server

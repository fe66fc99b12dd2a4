// The way of spans to an OpenTelemetry collector: OTLP over HTTP.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "src/server/tracing/span_exporter.h"

namespace hodei::server {

// `endpoint` is the collector's base, such as http://localhost:4318; INVALID_ARGUMENT when it is no such address.
absl::StatusOr<SpanExporter::Post> otlp_post(const std::string& endpoint);

}  // namespace hodei::server

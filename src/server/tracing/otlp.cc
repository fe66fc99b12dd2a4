#include "src/server/tracing/otlp.h"

#include <nlohmann/json.hpp>

#include "src/base/text.h"
#include "src/base/version.h"

namespace hodei::server {
namespace {

using nlohmann::json;

constexpr int kKindInternal = 1;
constexpr int kStatusError = 2;

json otlp_attribute(const std::string& key, const std::string& value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

// 64-bit numbers are texts in this form.
std::string nanoseconds(WallTime t) { return cat(t.us, "000"); }

json to_json(const Span& span) {
  json out = {{"traceId", trace_text(span.trace)},
              {"spanId", span_text(span.id)},
              {"name", span.name},
              {"kind", kKindInternal},
              {"startTimeUnixNano", nanoseconds(span.start)},
              {"endTimeUnixNano", nanoseconds(span.end)},
              {"attributes", json::array()}};
  if (span.parent != 0) out["parentSpanId"] = span_text(span.parent);
  for (const auto& [key, value] : span.attributes) out["attributes"].push_back(otlp_attribute(key, value));
  if (!span.error.empty()) out["status"] = {{"code", kStatusError}, {"message", span.error}};
  return out;
}

}  // namespace

std::string otlp_json(const std::vector<Span>& spans) {
  json list = json::array();
  for (const Span& span : spans) list.push_back(to_json(span));
  const json service = {{"attributes", json::array({otlp_attribute("service.name", "hodei"),
                                                    otlp_attribute("service.version", kVersion)})}};
  const json scope = {{"scope", {{"name", "hodei"}, {"version", kVersion}}}, {"spans", std::move(list)}};
  const json all = {{"resourceSpans", json::array({{{"resource", service}, {"scopeSpans", json::array({scope})}}})}};
  // Names of jobs are bytes of people: what is not UTF-8 is shown as such, not thrown about.
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace hodei::server

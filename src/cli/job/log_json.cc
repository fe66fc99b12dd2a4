#include "src/cli/job/log_json.h"

#include <absl/strings/escaping.h>

#include <nlohmann/json.hpp>

#include "src/base/printable.h"
#include "src/base/utf8.h"
#include "src/cli/job/job_view.h"

namespace hodei::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string one_line(const Json& object) {
  return printable_json(object.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace

std::string log_entry_json(const LogCursor::Piece& piece) {
  const v1::LogEntry& entry = piece.entry;
  std::string line = piece.bytes;
  const int64_t next = entry.offset() + static_cast<int64_t>(entry.line().size()) + (entry.partial() ? 0 : 1);
  const int64_t offset = next - static_cast<int64_t>(line.size());
  if (!entry.partial()) line.pop_back();
  Json out;
  out["job_id"] = entry.job_id();
  out["line"] = line;
  out["is_stderr"] = entry.is_stderr();
  out["timestamp"] = format_utc(wall_time(entry.timestamp()));
  out["sequence"] = entry.sequence();
  out["partial"] = entry.partial();
  out["execution"] = entry.execution();
  out["offset"] = offset;
  out["next_offset"] = next;
  if (!is_utf8(line)) out["line_base64"] = absl::Base64Escape(line);
  return one_line(out);
}

std::string log_gap_json(const v1::LogGap& gap, const LogCursor& at) {
  Json out;
  out["gap"] = {{"bytes", gap.bytes()}, {"reason", gap.reason()}};
  out["execution"] = at.execution();
  out["offset"] = at.offset();
  if (gap.bytes() > 0) out["next_offset"] = at.offset() + gap.bytes();
  return one_line(out);
}

}  // namespace hodei::cli

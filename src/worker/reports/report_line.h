// The line protocol of $HODEI_SOCKET: how a job tells its worker how far it is, and what came out.
//
//   hello <execution> <key>          first, once: $HODEI_EXECUTION_ID and $HODEI_SOCKET_KEY
//   progress <percent> [message]
//   output <key> <value>
//
// Each line is answered with `ok` or `error <why>`. In messages and values `\\` stands for a backslash, `\n` for a new
// line, `\r` for a carriage return; no other escapes exist.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"
#include "src/base/ids.h"

namespace hodei::worker {

inline constexpr size_t kMaxReportLine = 64 << 10;  // its newline not counted
inline constexpr size_t kMaxOutputKey = 100;
inline constexpr size_t kMaxProgressMessage = 1000;  // bytes; the rest is cut

struct HelloLine {
  ExecutionId execution;
  std::string key;
};
struct ProgressLine {
  double percent = 0;
  std::string message;
  bool is_cut = false;  // it was longer
};
struct OutputLine {
  std::string key;
  std::string value;
};
using ReportLine = std::variant<HelloLine, ProgressLine, OutputLine>;

// `line` is without its newline. The error is for the job's author.
absl::StatusOr<ReportLine> parse_report(std::string_view line);

// Messages and values as they stand in a line.
std::string escape_report_text(std::string_view text);

// The line for a report, newline included.
std::string report_line(const ReportLine& report);

}  // namespace hodei::worker

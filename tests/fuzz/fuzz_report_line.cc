// What a job writes to $HODEI_SOCKET: any bytes.
#include "src/base/utf8.h"
#include "src/worker/reports/report_line.h"
#include "tests/fuzz/fuzz.h"

using namespace hodei;
using namespace hodei::worker;

static void reads_back(const ReportLine& report) {
  const std::string line = report_line(report);
  REQUIRE(line.find('\n') == line.size() - 1, line);
  const absl::StatusOr<ReportLine> again = parse_report(std::string_view(line).substr(0, line.size() - 1));
  REQUIRE(again.ok(), fuzz::words(again.status()));
  REQUIRE(report_line(*again) == line, line);
}

FUZZ_TARGET(input) {
  const std::string_view line = input.substr(0, input.find('\n'));
  const absl::StatusOr<ReportLine> report = parse_report(line);
  if (!report.ok()) return;
  if (const auto* output = std::get_if<OutputLine>(&*report)) {
    // Both become strings of protobuf, which refuses to read others.
    REQUIRE(is_utf8(output->key) && is_utf8(output->value), output->value);
    reads_back(*report);
  } else if (const auto* progress = std::get_if<ProgressLine>(&*report)) {
    REQUIRE(progress->percent >= 0 && progress->percent <= 100, progress->percent);
    REQUIRE(is_utf8(progress->message) && progress->message.size() <= kMaxProgressMessage, progress->message);
    reads_back(*report);
  }
}

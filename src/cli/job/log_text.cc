#include "src/cli/job/log_text.h"

#include "src/cli/terminal/style.h"

#include "src/cli/job/job_view.h"

namespace hodei::cli {
std::string last_state(std::string line) {
  const size_t end = line.find_last_not_of("\r\n");
  if (end == std::string::npos) return line;
  const size_t back = line.rfind('\r', end);
  if (back != std::string::npos) line.erase(0, back + 1);
  return line;
}

LogText::LogText(const LogRequest& request, Terminals terminals, Sink sink)
    : request_(request), sink_(std::move(sink)) {
  streams_[0].last_state_only = !terminals.out;
  streams_[1] = {.is_stderr = true, .last_state_only = !terminals.err};
}

void LogText::take(const v1::LogEntry& entry, std::string bytes) {
  if (!(entry.is_stderr() ? request_.with_stderr : request_.with_stdout)) return;
  if (request_.raw) return sink_(entry.is_stderr(), std::move(bytes));
  if (entry.execution() != execution_) finish();
  execution_ = entry.execution();
  Stream& stream = streams_[entry.is_stderr() ? 1 : 0];
  if (stream.held.empty()) stream.time = wall_time(entry.timestamp());
  stream.held += bytes;
  if (stream.last_state_only) stream.held = last_state(std::move(stream.held));
  const bool holds = stream.last_state_only || request_.pattern != nullptr;
  if (entry.partial() && holds && stream.held.size() < kMostHeld) return;
  emit(stream, !entry.partial());
}

void LogText::finish() {
  for (Stream& stream : streams_) {
    if (!stream.held.empty()) emit(stream, false);
    stream.inside_line = false;
  }
}

void LogText::emit(Stream& stream, bool ends) {
  std::string text = std::exchange(stream.held, {});
  const bool inside = std::exchange(stream.inside_line, !ends);
  if (request_.pattern != nullptr && !contains(*request_.pattern, text)) return;
  if (request_.timestamps && !inside) text.insert(0, shown_time(stream.time, Style{.utc = request_.utc}) + " ");
  sink_(stream.is_stderr, std::move(text));
}

}  // namespace hodei::cli

#include "src/api/http/server_sent_event.h"

#include <algorithm>

#include "src/base/text.h"

namespace hodei::api {
namespace {

std::string on_one_line(std::string text) {
  std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == '\0'; });
  return text;
}

}  // namespace

std::string event_text(const ServerSentEvent& event) {
  std::string out;
  if (!event.event.empty()) out += cat("event: ", on_one_line(event.event), "\n");
  if (!event.id.empty()) out += cat("id: ", on_one_line(event.id), "\n");
  // CR LF, LF and CR each end a line, as in the standard.
  std::string_view rest = event.data;
  while (true) {
    const std::string_view line = rest.substr(0, rest.find_first_of("\r\n"));
    out += cat("data: ", line, "\n");
    if (line.size() == rest.size()) break;
    rest.remove_prefix(line.size());
    rest.remove_prefix(rest.starts_with("\r\n") ? 2 : 1);
  }
  return out + "\n";
}

}  // namespace hodei::api

// The text of server-sent events (text/event-stream), which browsers read with EventSource.
#pragma once

#include <string>
#include <string_view>

namespace hodei::api {

inline constexpr std::string_view kEventStreamType = "text/event-stream";
inline constexpr std::string_view kEventStreamHeartbeat = ":\n\n";  // a comment, which clients skip

struct ServerSentEvent {
  std::string data;   // any text; its lines are sent one by one
  std::string event;  // the kind; empty: `message`
  std::string id;     // where a client that reconnects goes on (Last-Event-ID); empty: none
};

// Line breaks and NUL in `event` and `id` would begin another field or void the id; they are left out.
std::string event_text(const ServerSentEvent& event);

}  // namespace hodei::api

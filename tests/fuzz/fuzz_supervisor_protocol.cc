// What supervisor and agent say to each other, exit records included, and how it is cut out of the socket's packets.
#include <sys/socket.h>

#include "src/worker/protocol/channel.h"
#include "src/worker/protocol/protocol.h"
#include "tests/fuzz/fuzz.h"

using namespace hodei;
using namespace hodei::worker;

static void one_message(std::string_view bytes) {
  const absl::StatusOr<protocol::Message> message = protocol::decode(bytes);
  if (!message.ok()) return REQUIRE(!message.status().message().empty(), "");
  const std::string once = protocol::encode(*message);
  const absl::StatusOr<protocol::Message> again = protocol::decode(once);
  REQUIRE(again.ok(), fuzz::words(again.status()));
  REQUIRE(again->index() == message->index() && protocol::encode(*again) == once, "kind ", message->index());
}

// The same bytes as they would arrive: as packets, without the descriptors that should come with them.
static void packets(std::string_view bytes) {
  absl::StatusOr<std::pair<Fd, Fd>> ends = Channel::make_pair();
  REQUIRE(ends.ok(), fuzz::words(ends.status()));
  Channel channel(std::move(ends->second));
  while (!bytes.empty()) {
    const std::string_view packet = bytes.substr(0, 4096);
    send(ends->first.get(), packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    bytes.remove_prefix(packet.size());
    if (!channel.receive().ok()) return;
  }
}

FUZZ_TARGET(input) {
  one_message(input);
  packets(input);
}

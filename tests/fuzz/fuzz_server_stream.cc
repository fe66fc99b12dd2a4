// What a server sends to a worker: orders become programs that can be started, or say why not.
#include "hodei/v1/worker_service.pb.h"
#include "src/worker/agent/program_builder.h"
#include "src/worker/agent/stream_messages.h"
#include "src/worker/protocol/protocol.h"
#include "tests/fuzz/messages.h"

using namespace hodei;

static bool has_nul(const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(), [](std::string_view t) {
    if (t.starts_with(worker::kFolderMark)) t.remove_prefix(worker::kFolderMark.size());
    return t.find('\0') != std::string_view::npos;
  });
}

static void order(v1::RunJob& run) {
  const std::optional<worker::RunOrder> order = worker::read_order(run);
  if (!order) return;
  worker::Program program = worker::build_program(*order);
  if (program.impossible.empty()) {
    REQUIRE(!program.argv.empty() && !has_nul(program.argv) && !has_nul(program.env), "");
    REQUIRE(program.timeout.count() >= 0 && program.grace.count() >= 0, program.timeout.count());
  }
  const worker::protocol::Message start = worker::protocol::Start{order->execution, std::move(program)};
  const auto again = worker::protocol::decode(worker::protocol::encode(start));
  REQUIRE(again.ok() && worker::protocol::encode(*again) == worker::protocol::encode(start), "");
}

FUZZ_TARGET(input) {
  v1::ServerMessage message;
  if (!fuzz::parses(input, message)) return;
  for (v1::RunJob& run : *message.mutable_run()) order(run);
  for (const v1::CancelExecution& cancel : message.cancel()) worker::read_execution(cancel.execution_id());
  for (const std::string& id : message.welcome().unknown()) worker::read_execution(id);
  for (const v1::LogPosition& position : message.ack().logs()) worker::read_execution(position.execution_id());
}

// The server's end of a worker's stream in the simulation: what api/grpc/worker_link does between gRPC and the parts of
// the server, over the same parts.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/core/commands.h"
#include "src/server/logs/stream_output.h"
#include "src/server/worker_links.h"

namespace hodei::sim {

class Reign;

// One message of a worker, with all that waited.
struct FromWorker {
  std::optional<core::OpenStream> hello;
  bool stopping = false;
  std::optional<core::Heartbeat> heartbeat;
  std::vector<store::LogPiece> logs;
  core::Report report;
};

class StreamLink final : public server::WorkerLink,
                         public server::LogSource,
                         public std::enable_shared_from_this<StreamLink> {
 public:
  // Output that a worker may have under way, and that may wait here. Small, so that both fill up.
  static constexpr int64_t kLogWindow = 4096;
  static constexpr size_t kMaxKept = 2 * kLogWindow;

  // `stream` is its number in the network.
  StreamLink(Reign& reign, WorkerId worker, uint64_t stream);
  void start();

  void arrived(FromWorker message);
  void broken();  // the network says so

  // WorkerLink and LogSource.
  void send(server::ToWorker message) override;
  void close(const std::string& why) override;
  void acknowledged(const std::vector<server::LogAck>& acks) override;
  void room() override;

 private:
  void write();
  void acknowledge(server::ToWorker message);
  void deliver(server::ToWorker message);
  void read();
  void take(FromWorker& message);
  void opened(const absl::StatusOr<core::Reply>& reply);
  void take_heartbeat(core::Heartbeat beat);
  void take_output(absl::Status taken);

  Reign& reign_;
  const WorkerId worker_;
  const uint64_t stream_;
  uint64_t number_ = 0;  // in WorkerLinks, and in the engine
  std::string incarnation_;
  server::StreamOutput output_;
  std::vector<server::ToWorker> queue_;  // from the loop; completed and written beside it
  std::vector<server::ToWorker> acks_;   // until there was a welcome
  bool writing_ = false;
  bool welcomed_ = false;
  std::deque<FromWorker> arrived_;  // and not read yet
  bool open_ = false;
  bool gone_ = false;
  bool greeted_ = false;
};

}  // namespace hodei::sim

// The server's end of one WorkerStream.
//
// Four parties meet here: gRPC's threads (reads, writes), the loop's thread (orders), the threads that write orders,
// and the log hub's thread (log acknowledgements, room). All of them go through this object, which outlives the gRPC
// reactor.
//
// Messages to the worker take one of two lanes. What the loop has for it is written by the threads of the OrderWriter,
// which read specs, open secrets and build the message (worker_link_writing.cc). Acknowledgements of heartbeats and
// output do not wait for that: a disk that is slow to give a spec must not end a lease.
//
// Heartbeats share the stream with output and reports, so the stream is read on whatever happens to those: heartbeats
// are acknowledged where they are read, and output that finds no room waits here, bounded by the window that the worker
// keeps.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "grpcpp/support/server_callback.h"
#include "hodei/v1/worker_service.pb.h"
#include "src/api/calls/workers/stream_ports.h"
#include "src/api/grpc/given_executions.h"
#include "src/api/grpc/progress_gate.h"
#include "src/server/logs/stream_output.h"
#include "src/server/order_writer.h"

namespace hodei::api {

class WorkerStreamReactor;

class WorkerStreamLink final : public server::WorkerLink,
                               public server::LogSource,
                               public server::OrderStream,
                               public std::enable_shared_from_this<WorkerStreamLink> {
 public:
  // Messages to one worker that wait to be written; a worker that does not read is cut off beyond that.
  static constexpr size_t kMaxQueued = 100'000;
  // Of them, prepared at once; and the orders after which no further message is taken.
  static constexpr size_t kMaxPrepared = 64;
  static constexpr size_t kEnoughOrders = 256;
  // Reports of one worker that wait for their commit; reading pauses beyond that. Far more than its executions can have
  // to report while they wait for answers, so a worker that behaves never gets there.
  static constexpr size_t kMaxUndecidedBytes = size_t{16} << 20;
  // Of one report to the loop; a message with more becomes several.
  static constexpr size_t kMaxReportItems = 256;
  // Between two heartbeats of which the figures are kept. Workers send them at half that rate at most.
  static constexpr Duration kLeastBeat = 1s;
  // Output that a worker may have under way, when there are few of them, and when there are many: all windows together
  // have about kAllLogWindows.
  static constexpr int64_t kMaxLogWindow = server::StreamOutput::kMaxLogWindow;
  static constexpr int64_t kMinLogWindow = int64_t{512} << 10;
  static constexpr int64_t kAllLogWindows = int64_t{512} << 20;

  explicit WorkerStreamLink(const WorkerStreamPorts& ports)
      : ports_(ports), given_(ports.lookups, ports.clock), output_(ports.logs) {}
  grpc::ServerBidiReactor<v1::WorkerMessage, v1::ServerMessage>* start();

  // WorkerLink, from the loop: leaves the message for the writer of orders.
  void send(server::ToWorker message) override;
  void close(const std::string& why) override;

  // LogSource, from the hub.
  void acknowledged(const std::vector<server::LogAck>& acks) override;
  void room() override;

  // OrderStream, on threads of the writer of orders.
  std::vector<server::ToWorker*> take() override;
  bool write() override;

 private:
  friend class WorkerStreamReactor;

  // From the reactor.
  void read_done(bool ok);
  void write_done(bool ok);
  void done();

  void handle(v1::WorkerMessage& message);
  void open(const v1::WorkerMessage& message);
  void opened(const absl::StatusOr<core::Reply>& reply);
  bool is_open();
  void take_reports(const v1::WorkerMessage& message);
  void take_heartbeat(const v1::Heartbeat& beat);
  void take_logs(v1::WorkerMessage& message);
  void decided(const absl::StatusOr<core::Reply>& reply, size_t bytes);
  // Takes out what the worker was not given, and tells it so: it must not wait for an acknowledgement that never comes.
  absl::Status take_out_foreign(std::vector<store::LogPiece>& pieces);
  void read_next();  // with the mutex held
  // The lane that waits for nothing: without orders.
  void acknowledge(server::ToWorker message);
  bool has_room();       // with the mutex held; a stream without room is ended
  void prepare_next();   // with the mutex held
  void write_next();     // with the mutex held
  void build_message();  // on a thread of the writer of orders
  void open_secrets(const core::SpecRow& spec, v1::RunJob* order);
  void note_input_errors();
  void finish(grpc::Status status);  // with the mutex held

  const WorkerStreamPorts ports_;  // of its own: it may outlive the calls
  GivenExecutions given_;
  std::mutex mutex_;
  WorkerStreamReactor* reactor_ = nullptr;  // null: the call is over
  v1::WorkerMessage in_;
  v1::ServerMessage out_;
  std::deque<server::ToWorker> queue_;     // from the loop, in order
  std::deque<server::ToWorker> prepared_;  // its front; of the writer of orders, while `preparing_`
  v1::ServerMessage next_;                 // what they became; likewise, until `has_next_`
  bool preparing_ = false;
  bool has_next_ = false;
  std::deque<server::ToWorker> acks_;
  bool welcomed_ = false;   // acknowledgements may be written: a welcome comes first
  bool acks_turn_ = false;  // the last message had orders
  // Used with the mutex held: the hub's word that there is room must not come between its refusal and our keeping.
  server::StreamOutput output_;
  bool has_log_window_ = false;  // by the worker's hello
  std::string incarnation_;      // as its hello says
  uint64_t stream_ = 0;
  WorkerId worker_;
  bool open_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool finished_ = false;
  size_t undecided_bytes_ = 0;
  // Of whoever reads, which is one thread at a time.
  ProgressGate progress_;
  MonoTime record_at_{0};
};

}  // namespace hodei::api

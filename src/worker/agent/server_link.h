// The agent's connection to one server: Register, then the stream. gRPC's own threads put what happens into an inbox
// and wake the agent's loop; the loop owns everything else.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "hodei/v1/worker_service.grpc.pb.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

// What happened, in order. `attempt` tells events of an abandoned connection from those of the current one.
struct RegisterDone {
  grpc::Status status;
  v1::RegisterResponse response;
};
struct Arrived {
  v1::ServerMessage message;
};
struct Written {};
struct StreamDone {
  grpc::Status status;
};
struct LinkEvent {
  uint64_t attempt = 0;
  std::variant<RegisterDone, Arrived, Written, StreamDone> what;
};

// Shared by the loop and gRPC's threads.
class LinkInbox {
 public:
  LinkInbox();
  int fd() const { return wake_.get(); }
  void put(LinkEvent event);
  std::vector<LinkEvent> take();

 private:
  Fd wake_;
  std::mutex mutex_;
  std::vector<LinkEvent> events_;
};

class ServerLink {
 public:
  explicit ServerLink(std::shared_ptr<LinkInbox> inbox) : inbox_(std::move(inbox)) {}
  ~ServerLink() { abandon(); }

  // Leaves any connection there is, and registers at this server. Answered by RegisterDone.
  void connect(const std::string& server, const v1::RegisterRequest& request);
  // After a successful RegisterDone. Messages come as Arrived, the end as StreamDone.
  void open_stream(const std::string& session_id);
  // One at a time: the next after Written.
  void write(v1::WorkerMessage message);
  bool can_write() const { return stream_ != nullptr && !writing_; }
  void written() { writing_ = false; }
  void abandon();  // nothing of it is heard any more

  uint64_t attempt() const { return attempt_; }
  // Of the newest connect; other calls of the worker may use it too.
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  // Waits for the answer, up to a limit: the last thing an agent says.
  grpc::Status unregister(const std::string& worker_id, const std::string& incarnation, const std::string& session_id,
                          const std::string& reason);

 private:
  class Stream;
  std::shared_ptr<LinkInbox> inbox_;
  uint64_t attempt_ = 0;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::WorkerAgentService::Stub> stub_;
  std::shared_ptr<grpc::ClientContext> register_context_;
  std::shared_ptr<Stream> stream_;
  bool writing_ = false;
};

// host:port of `http://host:port`, `host:port` or `host` (port 50051).
std::string server_target(std::string_view address);

}  // namespace hodei::worker

// The standard input of executions, from the server to the supervisor: one call of JobInputService for each. A call
// that breaks is opened again from what the job has been given; the supervisor passes over what it has already.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "hodei/v1/input_service.grpc.pb.h"
#include "src/base/ids.h"
#include "src/base/time.h"
#include "src/worker/protocol/protocol.h"
#include "src/worker/system/fd.h"

namespace hodei::worker {

// Shared by the agent's loop and gRPC's threads.
class InputInbox {
 public:
  struct Event {
    ExecutionId execution;
    uint64_t call = 0;  // tells events of a call that was given up from those of the current one
    std::variant<v1::TakeInputResponse, grpc::Status> what;
  };
  InputInbox();
  int fd() const { return wake_.get(); }
  void put(Event event);
  std::vector<Event> take();

 private:
  Fd wake_;
  std::mutex mutex_;
  std::vector<Event> events_;
};

class InputLink {
 public:
  explicit InputLink(std::function<void(protocol::Input)> sink);
  ~InputLink();

  int ready_fd() const { return inbox_->fd(); }
  // At each welcome: every call is opened anew.
  void set_server(std::shared_ptr<grpc::Channel> channel, std::string session_id);

  void begin(ExecutionId execution, int64_t at);
  void taken(const protocol::InputTaken& taken);
  void forget(ExecutionId execution);

  void look(MonoTime now);  // at what has come, and at calls to be opened again
  MonoTime next_due() const;

 private:
  class Call;
  struct Feed {
    int64_t taken = 0;
    std::shared_ptr<Call> call;  // null: none is open
    uint64_t number = 0;
    MonoTime open_at{0};
    bool is_done = false;
  };
  void open(ExecutionId execution, Feed& feed);
  void give_up(Feed& feed);
  void hear(const InputInbox::Event& event, Feed& feed, MonoTime now);

  const std::function<void(protocol::Input)> sink_;
  std::shared_ptr<InputInbox> inbox_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::JobInputService::Stub> stub_;
  std::string session_id_;
  std::map<ExecutionId, Feed> feeds_;
  uint64_t calls_ = 0;
};

}  // namespace hodei::worker

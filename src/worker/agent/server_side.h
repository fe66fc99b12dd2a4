// Handles the messages that the agent receives from the server, and sends what the Session decides.
#pragma once

#include <memory>

#include "src/worker/agent/agent_parts.h"
#include "src/worker/agent/registration.h"
#include "src/worker/agent/server_link.h"

namespace hodei::worker {

class ServerSide {
 public:
  explicit ServerSide(AgentParts& parts);

  int ready_fd() const { return inbox_->fd(); }
  void hear(Now now);
  bool has_left() const { return has_left_; }
  void hang_up() { link_.abandon(); }

  // What the Session wants.
  void act(Connect&, Now now);
  void act(SendHello& hello, Now now);
  void act(SendStopping&, Now now);
  void act(SendHeartbeat& beat, Now now);
  void act(SendStarted& started, Now now);
  void act(SendResult& result, Now now);
  void act(Leave& leave, Now now);

  bool can_write() const { return link_.can_write(); }
  void write(Now now);  // what waits, as one message

 private:
  void on_registered(RegisterDone& done, Now now);
  void on_arrived(v1::ServerMessage& message, Now now);
  void on_welcome(const v1::Welcome& welcome, Now now);
  void on_ack(const v1::ServerAck& ack);

  AgentParts& parts_;
  const std::shared_ptr<LinkInbox> inbox_;
  ServerLink link_;
  Registration registration_;
  bool turned_away_ = false;
  bool has_left_ = false;
};

}  // namespace hodei::worker

// Registers the worker with a server, with its session if it has one and otherwise with its token. The server answers
// with the interval of heartbeats.
#pragma once

#include <string>

#include "hodei/v1/worker_service.pb.h"
#include "src/base/time.h"
#include "src/worker/protocol/protocol.h"

namespace hodei::worker {

class Registration {
 public:
  // `attach` outlives it.
  explicit Registration(const protocol::Attach& attach) : attach_(attach), session_id_(attach.session_id) {}

  const std::string& next_server();  // they are tried in turn
  v1::RegisterRequest request() const;
  const std::string& session_id() const { return session_id_; }

  // True: the session is another one than before.
  bool accepted(const v1::RegisterResponse& response);
  // The server does not know the session. True: the next try uses the token, which may help.
  bool session_is_unknown();

  Duration beat() const;  // never slower than the lease needs
  Duration lease() const { return registered_lease_; }
  Duration watched_beat() const { return watched_beat_; }
  // The interval that the server requests while somebody watches; 0: the original one. False: nothing changes.
  bool watch(Duration beat);

 private:
  const protocol::Attach& attach_;
  std::string session_id_;
  bool session_refused_ = false;  // the next registration uses the token
  size_t next_server_ = 0;
  Duration registered_beat_{0}, registered_lease_{0}, watched_beat_{0};
};

}  // namespace hodei::worker

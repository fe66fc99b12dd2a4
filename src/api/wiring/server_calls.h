// The calls of all services, wired to a server. Every transport binds the same ones.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "src/api/calls/all_calls.h"
#include "src/server/server_parts.h"

namespace hodei::api {

class ServerCalls {
 public:
  // Before the server starts. `address` is where it listens, for people who ask. The server has stopped before the
  // calls go.
  ServerCalls(const server::ServerParts& server, const std::string& address, std::function<LocalWorker()> local_worker);
  ~ServerCalls();

  void start();
  void stop();  // once no transport takes calls any more
  const AllCalls& all() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace hodei::api

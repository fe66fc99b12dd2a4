#include "src/worker/agent/registration.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "src/worker/agent/worker_info.h"

namespace hodei::worker {

const std::string& Registration::next_server() {
  return attach_.options.servers[next_server_++ % attach_.options.servers.size()];
}

v1::RegisterRequest Registration::request() const {
  v1::RegisterRequest request;
  *request.mutable_info() = worker_info(attach_.options);
  if (session_id_.empty() || session_refused_) {
    request.set_auth_token(attach_.options.token);
  } else {
    request.set_session_id(session_id_);
  }
  request.set_incarnation(attach_.incarnation);
  request.set_lineage(attach_.lineage);
  request.set_generation(attach_.generation);
  request.mutable_stopped()->Assign(attach_.stopped.begin(), attach_.stopped.end());
  request.set_protocol_min(1);
  request.set_protocol_max(1);
  return request;
}

bool Registration::accepted(const v1::RegisterResponse& response) {
  session_refused_ = false;
  registered_beat_ = std::chrono::milliseconds(response.heartbeat_ms());
  registered_lease_ = std::chrono::milliseconds(response.lease_ms());
  watched_beat_ = Duration(0);
  return std::exchange(session_id_, response.session_id()) != response.session_id();
}

bool Registration::session_is_unknown() {
  if (session_id_.empty() || session_refused_ || attach_.options.token.empty()) return false;
  session_refused_ = true;
  return true;
}

Duration Registration::beat() const {
  return watched_beat_ > Duration(0) ? std::min(watched_beat_, registered_beat_) : registered_beat_;
}

bool Registration::watch(Duration beat) { return std::exchange(watched_beat_, beat) != beat; }

}  // namespace hodei::worker

// What one connection and its requests work with: what the host shares with all of them, and the two ends of the
// connection itself.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "src/api/http/admission.h"
#include "src/api/http/answer_writer.h"
#include "src/api/http/http_request.h"
#include "src/api/http/request_feed.h"
#include "src/api/http/router.h"
#include "src/api/http/strand_gate.h"

namespace hodei::api {

// What the connections of a host share. It outlives them.
struct HttpService {
  Router router;
  std::vector<HttpFilter> filters;
  HttpLimits limits;
  Admission admission{limits};
  std::atomic<bool> is_stopping = false;  // what is answered now is answered for the last time
};

// The connection, as its requests see it. It outlives them.
struct Wire {
  HttpService& service;
  ByteStream& stream;
  RequestFeed& feed;
  AnswerWriter& writer;
  std::shared_ptr<StrandGate> gate;
  std::weak_ptr<void> owner;
  Peer peer;
};

}  // namespace hodei::api

// One client: reads a request, has it answered, and reads the next one, until either side has had enough.
#pragma once

#include <functional>
#include <memory>

#include "src/api/http/http_exchange.h"

namespace hodei::api {

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  using OnEnd = std::function<void(const Connection*)>;

  // `on_end` is called once, on the strand of the stream or by abandon(); then the connection may go.
  Connection(HttpService& service, std::unique_ptr<ByteStream> stream, Peer peer, ConnectionPlace place, OnEnd on_end);

  // From any thread.
  void start();
  // Takes no further request, cuts a stream, and lets another answer be finished.
  void begin_stop();
  // When the threads of the host have ended: cuts what is left.
  void abandon() { cut(); }

 private:
  void read_next();
  void on_head(RequestFeed::Outcome outcome);
  void refuse(const Refusal& why);
  void after_exchange(HttpExchange::Next next);
  void close_in_order();
  void cut();
  void finish();

  const ConnectionPlace place_;
  const std::unique_ptr<ByteStream> stream_;
  const std::shared_ptr<StrandGate> gate_;
  RequestFeed feed_;
  AnswerWriter writer_;
  Wire wire_;
  OnEnd on_end_;  // null: over
  std::shared_ptr<HttpExchange> exchange_;
  size_t served_ = 0;
};

}  // namespace hodei::api

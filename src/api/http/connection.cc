#include "src/api/http/connection.h"

#include <utility>

namespace hodei::api {

Connection::Connection(HttpService& service, std::unique_ptr<ByteStream> stream, Peer peer, ConnectionPlace place,
                       OnEnd on_end)
    : place_(std::move(place)),
      stream_(std::move(stream)),
      gate_(std::make_shared<StrandGate>(stream_->executor())),
      feed_(*stream_, service.limits),
      writer_(*stream_, service.limits),
      wire_{service, *stream_, feed_, writer_, gate_, {}, std::move(peer)},
      on_end_(std::move(on_end)) {}

void Connection::start() {
  wire_.owner = weak_from_this();
  feed_.belong_to(weak_from_this());
  writer_.belong_to(weak_from_this());
  gate_->post([self = shared_from_this()] { self->read_next(); });
}

void Connection::begin_stop() {
  gate_->post(
      [self = shared_from_this()] { self->exchange_ != nullptr ? self->exchange_->begin_stop() : self->finish(); });
}

void Connection::read_next() {
  if (wire_.service.is_stopping) return finish();
  feed_.await_head([this](RequestFeed::Outcome outcome, const std::string&) { on_head(outcome); });
}

void Connection::on_head(RequestFeed::Outcome outcome) {
  if (outcome == RequestFeed::Outcome::Refused) return refuse(feed_.refusal());
  if (outcome != RequestFeed::Outcome::Ready) return finish();
  const bool may_go_on = ++served_ < wire_.service.limits.requests_of_connection;
  exchange_ = std::make_shared<HttpExchange>(wire_, [this](HttpExchange::Next next) { after_exchange(next); });
  exchange_->start(may_go_on);
}

// What follows a request that cannot be read is not a request either.
void Connection::refuse(const Refusal& why) {
  const HttpHeaders none;
  writer_.write(
      head_text({why.status, "text/plain; charset=utf-8", none}, {Framing::End::Length, why.message.size(), false}),
      why.message, [this](bool taken) { taken ? close_in_order() : finish(); });
}

void Connection::after_exchange(HttpExchange::Next next) {
  exchange_ = nullptr;
  switch (next) {
    case HttpExchange::Next::Keep: return read_next();
    case HttpExchange::Next::Close: return close_in_order();
    case HttpExchange::Next::Cut: return cut();
  }
}

// Closed at once with bytes unread, the kernel would send a reset, and the client could lose the answer to it.
void Connection::close_in_order() {
  stream_->end_writing();
  feed_.linger([this](RequestFeed::Outcome, const std::string&) { finish(); });
}

void Connection::cut() {
  stream_->reset();
  finish();
}

void Connection::finish() {
  const OnEnd on_end = std::exchange(on_end_, nullptr);
  if (!on_end) return;
  gate_->close();
  feed_.stop();
  writer_.stop();
  stream_->close();
  if (const auto exchange = std::exchange(exchange_, nullptr)) exchange->cancel();
  on_end(this);
}

}  // namespace hodei::api

#include "tests/sim/network.h"

namespace hodei::sim {
namespace {

constexpr Duration kKeepAlive = 8s;  // silence of the transport that ends a stream

}  // namespace

Duration Network::latency() {
  // Mostly quick, now and then slow.
  return world_.chance(0.02) ? world_.between(5ms, 3s) : world_.between(50us, 3ms);
}

uint64_t Network::open(const std::string& owner, const std::string& server, StreamEnd* worker,
                       std::function<void()> tell_server) {
  const uint64_t id = next_++;
  auto stream = std::make_shared<Stream>();
  stream->owner = owner;
  stream->server = server;
  stream->worker = worker;
  stream->tell_server = std::move(tell_server);
  streams_[id] = std::move(stream);
  return id;
}

void Network::send(uint64_t id, Towards direction, std::function<void(Stream&)> message) {
  const auto it = streams_.find(id);
  if (it == streams_.end()) return;
  const std::shared_ptr<Stream> stream = it->second;
  if (stream->torn || is_cut(stream->owner, direction) || is_cut(stream->server, direction)) {
    // An ordered stream cannot go on after a message was swallowed.
    if (!std::exchange(stream->torn, true)) world_.after(kKeepAlive, [this, id] { break_stream(id); });
    return;
  }
  Duration& last = direction == Towards::Server ? stream->last_to_server : stream->last_to_worker;
  last = std::max(last, world_.elapsed() + latency());
  world_.after(last - world_.elapsed(), [stream, message = std::move(message)] {
    if (stream->up) message(*stream);
  });
}

void Network::to_server(uint64_t id, std::function<void()> message) {
  send(id, Towards::Server, [message = std::move(message)](Stream&) { message(); });
}

void Network::to_worker(uint64_t id, std::function<void(StreamEnd&)> message) {
  send(id, Towards::Caller, [message = std::move(message)](Stream& stream) {
    if (stream.worker != nullptr) message(*stream.worker);
  });
}

void Network::break_stream(uint64_t id) {
  const auto it = streams_.find(id);
  if (it == streams_.end() || !it->second->up) return;
  const std::shared_ptr<Stream> stream = it->second;
  stream->up = false;
  streams_.erase(it);
  const auto delay = [&] {
    return world_.chance(0.2) ? world_.between(10ms, kKeepAlive) : world_.between(100us, 10ms);
  };
  world_.after(delay(), [stream] { stream->tell_server(); });
  world_.after(delay(), [stream, id] {
    if (stream->worker != nullptr) stream->worker->stream_broken(id);
  });
}

void Network::break_all(const std::string& server) {
  for (const uint64_t id : live()) {
    const auto it = streams_.find(id);
    if (it != streams_.end() && it->second->server == server) break_stream(id);
  }
}

void Network::cut(const std::string& party, Towards direction, Duration length) {
  Duration& until = cuts_[{party, direction}];
  until = std::max(until, world_.elapsed() + length);
  // The transport's own probes are lost too: a stream that carries nothing is found broken all the same.
  for (const auto& [id, stream] : streams_) {
    if ((stream->owner != party && stream->server != party) || length < kKeepAlive) continue;
    world_.after(kKeepAlive, [this, id = id] { break_stream(id); });
  }
}

bool Network::is_cut(const std::string& party, Towards direction) const {
  const auto it = cuts_.find({party, direction});
  return it != cuts_.end() && world_.elapsed() < it->second;
}

std::vector<uint64_t> Network::live() const {
  std::vector<uint64_t> out;
  for (const auto& [id, stream] : streams_) out.push_back(id);
  return out;
}

void Network::abandon(uint64_t id) {
  const auto it = streams_.find(id);
  if (it == streams_.end()) return;
  it->second->worker = nullptr;
  break_stream(id);
}

}  // namespace hodei::sim

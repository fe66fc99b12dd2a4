#include "tests/sim/network.h"

namespace hodei::sim {
namespace {

constexpr Duration kKeepAlive = 8s;   // silence of the transport that ends a stream

}  // namespace

Duration Network::latency() {
  // Mostly quick, now and then slow.
  return world_.chance(0.02) ? world_.between(5ms, 3s) : world_.between(50us, 3ms);
}

uint64_t Network::open(StreamEnd* worker, std::function<void(uint64_t)> tell_server) {
  const uint64_t id = next_++;
  auto stream = std::make_shared<Stream>();
  stream->worker = worker;
  stream->tell_server = std::move(tell_server);
  streams_[id] = std::move(stream);
  return id;
}

void Network::send(Duration& last, Duration hole, const std::shared_ptr<Stream>& stream, std::function<void()> message) {
  if (world_.elapsed() < hole) return;
  last = std::max(last, world_.elapsed() + latency());
  world_.after(last - world_.elapsed(), [stream, message = std::move(message)] {
    if (stream->up) message();
  });
}

void Network::to_server(uint64_t id, std::function<void()> message) {
  const auto it = streams_.find(id);
  if (it != streams_.end()) send(it->second->last_to_server, it->second->hole_to_server, it->second, std::move(message));
}

void Network::to_worker(uint64_t id, std::function<void()> message) {
  const auto it = streams_.find(id);
  if (it != streams_.end()) send(it->second->last_to_worker, it->second->hole_to_worker, it->second, std::move(message));
}

void Network::break_stream(uint64_t id) {
  const auto it = streams_.find(id);
  if (it == streams_.end() || !it->second->up) return;
  const std::shared_ptr<Stream> stream = it->second;
  stream->up = false;
  streams_.erase(it);
  const auto delay = [&] { return world_.chance(0.2) ? world_.between(10ms, kKeepAlive) : world_.between(100us, 10ms); };
  world_.after(delay(), [stream, id] { stream->tell_server(id); });
  world_.after(delay(), [stream, id] {
    if (stream->worker != nullptr) stream->worker->stream_broken(id);
  });
}

void Network::break_all() {
  for (const uint64_t id : live()) break_stream(id);
}

void Network::black_hole(uint64_t id, bool towards_server, Duration length) {
  const auto it = streams_.find(id);
  if (it == streams_.end()) return;
  (towards_server ? it->second->hole_to_server : it->second->hole_to_worker) = world_.elapsed() + length;
  // Messages were swallowed: an ordered stream cannot go on after that.
  world_.after(std::min(length, kKeepAlive), [this, id] { break_stream(id); });
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

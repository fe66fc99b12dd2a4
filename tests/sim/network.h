// Streams between workers and the server. Messages of one direction arrive in order or not at all; a break loses what
// is under way, and each side learns of it in its own time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "tests/sim/world.h"

namespace hodei::sim {

class StreamEnd {
 public:
  virtual ~StreamEnd() = default;
  virtual void stream_broken(uint64_t stream) = 0;
};

class Network {
 public:
  explicit Network(World& world) : world_(world) {}

  uint64_t open(StreamEnd* worker, std::function<void(uint64_t)> tell_server);
  void to_server(uint64_t stream, std::function<void()> message);
  void to_worker(uint64_t stream, std::function<void()> message);
  // Both sides will learn of it, each after a delay of its own.
  void break_stream(uint64_t stream);
  void break_all();
  // One direction swallows everything for a while; the stream breaks when the silence is noticed.
  void black_hole(uint64_t stream, bool towards_server, Duration length);
  bool is_up(uint64_t stream) const { return streams_.contains(stream) && streams_.at(stream)->up; }
  std::vector<uint64_t> live() const;
  // The worker's side is gone: nothing is told to it any more.
  void abandon(uint64_t stream);

  Duration latency();

 private:
  struct Stream {
    StreamEnd* worker;
    std::function<void(uint64_t)> tell_server;
    bool up = true;
    Duration last_to_server{0};
    Duration last_to_worker{0};
    Duration hole_to_server{0};    // until then
    Duration hole_to_worker{0};
  };
  void send(Duration& last, Duration hole, const std::shared_ptr<Stream>& stream, std::function<void()> message);

  World& world_;
  uint64_t next_ = 1;
  std::map<uint64_t, std::shared_ptr<Stream>> streams_;
};

}  // namespace hodei::sim

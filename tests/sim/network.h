// Streams and calls between workers, clients and the server. Messages of one direction of a stream arrive in order or
// not at all; a break loses what is under way, and each side learns of it in its own time. A party that is cut off
// loses everything in that direction: its streams, the new ones that it opens, and its unary calls.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/world.h"

namespace hodei::sim {

class StreamEnd {
 public:
  virtual ~StreamEnd() = default;
  virtual void stream_broken(uint64_t stream) = 0;
};

enum class Towards : uint8_t { Server, Caller };

class Network {
 public:
  explicit Network(World& world) : world_(world) {}

  // `owner` and `server` are the parties whose cuts the stream suffers from. `tell_server`: it has broken.
  uint64_t open(const std::string& owner, const std::string& server, StreamEnd* worker,
                std::function<void()> tell_server);
  void to_server(uint64_t stream, std::function<void()> message);
  // The message is given the end that opened the stream.
  void to_worker(uint64_t stream, std::function<void(StreamEnd&)> message);
  // Both sides will learn of it, each after a delay of its own.
  void break_stream(uint64_t stream);
  void break_all(const std::string& server);
  std::vector<uint64_t> live() const;
  // The worker's side is gone: nothing is told to it any more.
  void abandon(uint64_t stream);

  // From now on and for so long, nothing of this party arrives in that direction.
  void cut(const std::string& party, Towards direction, Duration length);
  bool is_cut(const std::string& party, Towards direction) const;

  Duration latency();

 private:
  struct Stream {
    std::string owner;
    std::string server;
    StreamEnd* worker;
    std::function<void()> tell_server;
    bool up = true;
    bool torn = false;  // a message was swallowed: the stream breaks when the silence is noticed
    Duration last_to_server{0};
    Duration last_to_worker{0};
  };
  void send(uint64_t id, Towards direction, std::function<void(Stream&)> message);

  World& world_;
  uint64_t next_ = 1;
  std::map<uint64_t, std::shared_ptr<Stream>> streams_;
  std::map<std::pair<std::string, Towards>, Duration> cuts_;  // until when
};

}  // namespace hodei::sim

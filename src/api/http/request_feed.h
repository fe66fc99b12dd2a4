// The reading side of a connection: gets heads and bodies from the client, each within its time, and notices when the
// client goes away while it is being answered. It lives on the connection's strand.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/api/http/byte_stream.h"
#include "src/api/http/deadline.h"
#include "src/api/http/request_reader.h"

namespace hodei::api {

// The time that a client has for the block of a body at hand. Only waiting for it counts, so a handler that reads
// slowly costs its client nothing.
class BlockPatience {
 public:
  explicit BlockPatience(Duration whole) : whole_(whole), left_(whole) {}

  Duration left() const { return left_; }
  void begin(MonoTime now) { waiting_since_ = now; }
  // True: that was the end of a block.
  bool arrived(size_t bytes, MonoTime now);

 private:
  const Duration whole_;
  Duration left_;
  MonoTime waiting_since_;
  size_t bytes_ = 0;
};

class RequestFeed {
 public:
  // Ready: a head or a piece of a body. End: of the body. Refused: refusal() says why. Gone: the client has closed its
  // side, or was idle for too long. Lost: the connection is broken.
  enum class Outcome : uint8_t { Ready, End, Refused, Gone, Lost };
  using Then = std::function<void(Outcome, std::string piece)>;

  RequestFeed(ByteStream& stream, const HttpLimits& limits);

  // Kept alive by every operation that is under way.
  void belong_to(std::weak_ptr<void> owner) { owner_ = std::move(owner); }

  // One of these at a time; another one takes the place of the last. `then` is called once.
  void await_head(Then then);
  void await_piece(Then then);
  // Gone or Lost, while a request is being answered. What the client sends meanwhile is kept, up to a limit.
  void watch(Then then);
  // Throws away what the client still sends, until it closes its side or the time for that is over.
  void linger(Then then);
  void stop();  // whatever is awaited: it will not be called

  RequestReader& reader() { return reader_; }
  const Refusal& refusal() const { return is_late_ ? late_ : reader_.refusal(); }
  bool has_ended() const { return ended_ != Outcome::Ready; }  // nothing more will come

 private:
  enum class Want : uint8_t { Nothing, Head, Body, Watch, Linger };

  void want(Want what, Then then);
  void step();
  void step_head();
  void step_body();
  void step_linger();
  void read_on();
  void on_read(boost::system::error_code error, size_t size);
  void set_deadline(Duration limit);
  void on_late();
  void finish(Outcome outcome, std::string piece = {});

  ByteStream& stream_;
  const HttpLimits& limits_;
  const SystemClock clock_;
  std::weak_ptr<void> owner_;
  Deadline deadline_;
  RequestReader reader_;
  std::vector<char> arriving_;  // where a read puts its bytes: the reader moves its own about meanwhile
  bool is_reading_ = false;
  Outcome ended_ = Outcome::Ready;
  Want want_ = Want::Nothing;
  Then then_;
  bool has_begun_ = false;  // a head that is awaited
  bool is_late_ = false;
  Refusal late_;
  std::optional<BlockPatience> patience_;  // of the request at hand
  size_t lingered_ = 0;                    // bytes thrown away
};

}  // namespace hodei::api

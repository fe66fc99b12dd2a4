// What a handler answers: one whole answer, or a stream of pieces that is pulled as fast as the client reads.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "src/api/http/named_values.h"

namespace hodei::api {

// `headers` must not name what the host itself decides (Content-Length, Transfer-Encoding, Connection, …). An answer
// with such a header, or with one that has a line break in it, becomes a 500.
struct HttpResponse {
  int status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
  HttpHeaders headers = {};
};

// Makes the body of a stream. The host asks for one piece at a time, and for the next one when the client has taken
// the last: what a slow client has not taken costs nothing.
class PieceSource {
 public:
  // Called once, from any thread: a piece, or nothing at the end, or an error, which breaks the answer off. Pieces
  // should not be much larger than kBlockBytes.
  using Give = std::function<void(absl::StatusOr<std::string>)>;

  virtual ~PieceSource() = default;
  // On a thread of the host; must not block.
  virtual void next(Give give) = 0;
  // The client is gone, or too slow, or the host stops: nobody will ask again, and what is given now is dropped.
  // Called at most once, and not after the end.
  virtual void cancel() {}
};

struct HttpStream {
  int status = 200;
  std::string content_type = "application/octet-stream";
  HttpHeaders headers = {};
  std::optional<uint64_t> length = {};  // of the whole body, when it is known
  std::string heartbeat = {};           // sent when there is nothing else to send; empty: never
  std::shared_ptr<PieceSource> source;
};

// A whole answer may be given as a function. It is called on a thread of the host, so that a caller with other duties
// (the loop) does not spend its time on text.
using MakeResponse = std::function<HttpResponse()>;
using HttpAnswer = std::variant<MakeResponse, HttpStream>;

}  // namespace hodei::api

// Reads requests from bytes as they arrive, one after another, within limits. It knows no sockets and no time: the
// connection feeds it, and a fuzz target does too. How the bytes are cut into pieces never changes what is read.
//
// The header is taken by its end (an empty line) and then parsed at once; the parser is Beast's. What two programs
// could understand in two ways is refused, because the second one may be a proxy in front of us: bare line feeds,
// folded lines, repeated or contradicting lengths, encodings other than `chunked`.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "src/api/http/http_limits.h"
#include "src/api/http/named_values.h"

namespace hodei::api {

struct RequestHead {
  std::string method;
  std::string target;
  int version = 11;  // or 10
  HttpHeaders headers;
  std::optional<uint64_t> content_length;
  bool is_chunked = false;
  bool keep_alive = false;        // the client would like to go on
  bool expects_continue = false;  // it waits for a 100 before it sends the body

  bool has_body() const { return is_chunked || content_length.value_or(0) > 0; }
};

// Why a request cannot be read on, as an answer to the client. The connection cannot be used any further.
struct Refusal {
  int status = 0;
  std::string message;
};

class RequestReader {
 public:
  enum class Step : uint8_t { NeedMore, Ready, End, Refused };

  explicit RequestReader(const HttpLimits& limits);
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // How many more bytes may be appended now; 0: too much waits to be read.
  size_t room() const { return buffer_.max_size() - buffer_.size(); }
  void append(std::string_view bytes);
  bool has_bytes() const { return buffer_.size() > 0; }

  // Ready: the head is there.
  Step read_head();
  const RequestHead& head() const { return head_; }

  // Largest body that is taken, known once the head is.
  void limit_body(uint64_t bytes) { body_left_ = bytes; }
  // Ready: `piece` has at least one byte and at most kBlockBytes. End: the request is complete.
  Step read_body(std::string& piece);
  bool is_complete() const { return parser_ && parser_->is_done(); }

  const Refusal& refusal() const { return refusal_; }

  // Forgets the request at hand; what has already arrived of the next one stays.
  void start_next();
  // Forgets everything that has arrived.
  void discard() { buffer_.consume(buffer_.size()); }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::buffer_body>;

  Step refuse(int status, std::string message);
  Step scan_head();
  Step parse_head();
  Step check_head();
  Step read_some_body(std::string& piece);

  const HttpLimits& limits_;
  boost::beast::flat_buffer buffer_;
  size_t scanned_ = 0;     // bytes of the head that were looked at
  bool saw_line_ = false;  // the request line is complete
  std::optional<Parser> parser_;
  RequestHead head_;
  uint64_t body_left_ = 0;
  uint64_t chunk_left_ = 0;  // of the chunk at hand
  size_t wanted_ = 1;        // bytes without which there is no use in reading on in the body
  std::function<void(uint64_t, boost::beast::string_view, boost::system::error_code&)>
      on_chunk_;  // called by the parser
  Refusal refusal_;
};

}  // namespace hodei::api

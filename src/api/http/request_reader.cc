#include "src/api/http/request_reader.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <vector>

#include "src/base/text.h"

namespace hodei::api {
namespace {

namespace beast = boost::beast;
namespace message = boost::beast::http;
using boost::system::error_code;

constexpr size_t kAheadBytes = 4 << 10;        // of what follows a head, or of a body
constexpr size_t kMethodAndVersionBytes = 48;  // of a request line, besides its target
constexpr size_t kChunkHeaderBytes = 4 << 10;  // with its extensions; also trailers
// Whatever chunk comes next, a body has at least `0 CR LF CR LF` to go. Beast's parser must not be asked again with
// less once it has seen the first line of that.
constexpr size_t kLastChunkBytes = 5;

std::string_view text_in(const beast::flat_buffer& buffer) {
  return {static_cast<const char*>(buffer.cdata().data()), buffer.size()};
}

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

// A byte that no header has. Bytes from 0x80 on are allowed in values.
bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\r' && c != '\n' && c != '\t') || byte == 0x7f;
}

bool is_plain_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// A request line that would be right in another version of HTTP.
bool has_other_version(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\r'));
  const std::string_view version = line.substr(line.rfind(' ') + 1);
  return std::count(line.begin(), line.end(), ' ') == 2 && version.size() == 8 && version.starts_with("HTTP/") &&
         is_plain_number(version.substr(5, 1)) && version[6] == '.' && is_plain_number(version.substr(7));
}

Refusal refusal_of(const error_code& error) { return {400, cat("this is not HTTP/1.1: ", error.message(), "\n")}; }

}  // namespace

RequestReader::RequestReader(const HttpLimits& limits)
    : limits_(limits), buffer_(std::max(limits.header_bytes, kChunkHeaderBytes) + kAheadBytes) {
  on_chunk_ = [this](uint64_t size, boost::beast::string_view, error_code&) { chunk_left_ = size; };
}

void RequestReader::append(std::string_view bytes) {
  const auto into = buffer_.prepare(bytes.size());
  boost::asio::buffer_copy(into, boost::asio::buffer(bytes.data(), bytes.size()));
  buffer_.commit(bytes.size());
}

RequestReader::Step RequestReader::refuse(int status, std::string message) {
  refusal_ = {status, std::move(message)};
  return Step::Refused;
}

RequestReader::Step RequestReader::read_head() {
  if (refusal_.status != 0) return Step::Refused;
  const Step step = scan_head();
  return step == Step::Ready ? parse_head() : step;
}

// Looks for the end of the head, and refuses early what can never become one.
RequestReader::Step RequestReader::scan_head() {
  // Some clients send an empty line after a body.
  while (scanned_ == 0 && text_in(buffer_).starts_with("\r\n")) buffer_.consume(2);
  const std::string_view text = text_in(buffer_);
  if (text == "\r") return Step::NeedMore;  // perhaps half of such a line
  for (; scanned_ < text.size(); ++scanned_) {
    const char c = text[scanned_];
    const std::string_view before = text.substr(0, scanned_);
    if (is_control(c)) return refuse(400, "the header contains a control character\n");
    if (c == '\n' && !before.ends_with('\r')) return refuse(400, "a line of the header does not end with CR LF\n");
    if (c != '\n' && before.ends_with('\r')) return refuse(400, "a line of the header does not end with CR LF\n");
    if ((c == ' ' || c == '\t') && before.ends_with('\n')) return refuse(400, "a line of the header is folded\n");
    if (c == '\n') saw_line_ = true;
    if (!saw_line_ && scanned_ >= limits_.target_bytes + kMethodAndVersionBytes) {
      return refuse(414, "the target of the request is too long\n");
    }
    if (scanned_ >= limits_.header_bytes) return refuse(431, "the header is too large\n");
    if (c == '\n' && before.ends_with("\r\n\r")) {
      ++scanned_;
      return Step::Ready;
    }
  }
  return Step::NeedMore;
}

RequestReader::Step RequestReader::parse_head() {
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(scanned_ + 1));
  parser_->body_limit(boost::none);  // ours is known when the route is
  parser_->on_chunk_header(on_chunk_);
  error_code error;
  const size_t used = parser_->put(boost::asio::buffer(text_in(buffer_).data(), scanned_), error);
  if (error == message::error::bad_version && has_other_version(text_in(buffer_))) {
    return refuse(505, "only HTTP/1.0 and HTTP/1.1 are spoken here\n");
  }
  if (error) {
    refusal_ = refusal_of(error);
    return Step::Refused;
  }
  if (!parser_->is_header_done() || used != scanned_) return refuse(400, "this is not HTTP/1.1\n");
  const auto& parsed = parser_->get();
  head_ = {};
  head_.method = view(parsed.method_string());
  head_.target = view(parsed.target());
  head_.version = static_cast<int>(parsed.version());
  for (const auto& field : parsed) {
    head_.headers.add(std::string(view(field.name_string())), std::string(view(field.value())));
  }
  head_.is_chunked = parser_->chunked();
  if (const auto length = parser_->content_length()) head_.content_length = *length;
  head_.keep_alive = parser_->keep_alive();
  buffer_.consume(used);
  wanted_ = head_.is_chunked ? kLastChunkBytes : 1;
  return check_head();
}

RequestReader::Step RequestReader::check_head() {
  if (head_.target.size() > limits_.target_bytes) return refuse(414, "the target of the request is too long\n");
  const std::vector<std::string_view> lengths = head_.headers.all("Content-Length");
  const std::vector<std::string_view> encodings = head_.headers.all("Transfer-Encoding");
  if (!lengths.empty() && !encodings.empty()) {
    return refuse(400, "a request has Content-Length or Transfer-Encoding, not both\n");
  }
  if (lengths.size() > 1 || (lengths.size() == 1 && !is_plain_number(lengths[0]))) {
    return refuse(400, "Content-Length must be one number\n");
  }
  if (!encodings.empty() && head_.version < 11) return refuse(400, "HTTP/1.0 has no Transfer-Encoding\n");
  if (encodings.size() > 1 || (encodings.size() == 1 && !SameInAnyCase()(encodings[0], "chunked"))) {
    return refuse(501, "Transfer-Encoding: only 'chunked' is supported\n");
  }
  const size_t hosts = head_.headers.all("Host").size();
  if (hosts > 1 || (hosts == 0 && head_.version >= 11)) return refuse(400, "a request has exactly one Host header\n");
  if (const auto expected = head_.headers.find("Expect"); expected && head_.version >= 11) {
    if (!SameInAnyCase()(*expected, "100-continue")) return refuse(417, "Expect: only '100-continue' is supported\n");
    head_.expects_continue = head_.has_body();
  }
  return Step::Ready;
}

RequestReader::Step RequestReader::read_body(std::string& piece) {
  piece.clear();
  if (refusal_.status != 0) return Step::Refused;
  // As much as there is: a body of many tiny chunks is not handed on byte by byte.
  while (!parser_->is_done() && buffer_.size() >= wanted_ && piece.size() < kBlockBytes) {
    if (const Step step = read_some_body(piece); step != Step::Ready) return step;
  }
  if (!piece.empty()) return Step::Ready;
  return parser_->is_done() ? Step::End : Step::NeedMore;
}

RequestReader::Step RequestReader::read_some_body(std::string& piece) {
  char bytes[kAheadBytes];
  const size_t most = std::min(sizeof(bytes), kBlockBytes - piece.size());
  parser_->get().body() = {.data = bytes, .size = most, .more = true};
  error_code error;
  const size_t used = parser_->put(buffer_.cdata(), error);
  const size_t got = most - parser_->get().body().size;
  const bool needs_more = error == message::error::need_more;
  if (got == 0 && (needs_more ? buffer_.size() : used) > kChunkHeaderBytes) {
    return refuse(400, "the header of a chunk is too long\n");
  }
  if (needs_more) {
    wanted_ = buffer_.size() + 1;
    return Step::Ready;
  }
  if (error && error != message::error::need_buffer) {
    refusal_ = refusal_of(error);
    return Step::Refused;
  }
  buffer_.consume(used);
  chunk_left_ -= std::min<uint64_t>(got, chunk_left_);
  wanted_ = head_.is_chunked && chunk_left_ == 0 ? kLastChunkBytes : 1;
  if (got > body_left_) return refuse(413, "the body is too large\n");
  body_left_ -= got;
  piece.append(bytes, got);
  return Step::Ready;
}

void RequestReader::start_next() {
  parser_.reset();
  head_ = {};
  scanned_ = 0;
  chunk_left_ = 0;
  saw_line_ = false;
  refusal_ = {};
  if (buffer_.size() == 0 && buffer_.capacity() > 2 * kAheadBytes) buffer_.shrink_to_fit();
}

}  // namespace hodei::api

#include "src/api/http/answer_head.h"

#include <algorithm>
#include <boost/beast/http/status.hpp>

#include "src/base/text.h"
#include "src/base/version.h"

namespace hodei::api {
namespace {

// They say where an answer ends, or speak for the connection.
constexpr std::string_view kOwnHeaders[] = {"Connection", "Content-Length", "Content-Type",      "Keep-Alive", "Server",
                                            "TE",         "Trailer",        "Transfer-Encoding", "Upgrade"};

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool is_value(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; });
}

bool is_own(std::string_view name) {
  return std::any_of(std::begin(kOwnHeaders), std::end(kOwnHeaders),
                     [&](std::string_view own) { return SameInAnyCase()(own, name); });
}

std::string_view reason(int status) {
  const auto text = boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
  return {text.data(), text.size()};
}

}  // namespace

bool is_sound(const AnswerHead& head) {
  if (head.status < 200 || head.status > 599 || !is_value(head.content_type)) return false;
  return std::all_of(head.headers.begin(), head.headers.end(), [](const HttpHeaders::Entry& header) {
    return is_token(header.first) && is_value(header.second) && !is_own(header.first);
  });
}

std::string head_text(const AnswerHead& head, const Framing& framing) {
  std::string out = cat("HTTP/1.1 ", head.status, " ", reason(head.status), "\r\nServer: hodei/", kVersion, "\r\n");
  if (has_body(head.status) && !head.content_type.empty()) out += cat("Content-Type: ", head.content_type, "\r\n");
  for (const auto& [name, value] : head.headers) out += cat(name, ": ", value, "\r\n");
  if (framing.end == Framing::End::Length) out += cat("Content-Length: ", framing.length, "\r\n");
  if (framing.end == Framing::End::Chunks) out += "Transfer-Encoding: chunked\r\n";
  out += framing.keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return out;
}

bool has_body(int status) { return status != 204 && status != 304; }

std::string chunk_text(std::string_view piece) { return fmt::format("{:x}\r\n{}\r\n", piece.size(), piece); }

}  // namespace hodei::api

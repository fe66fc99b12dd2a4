// The head of an answer as text, and the frame of a chunk. Nothing that a handler says can end a line early.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/api/http/named_values.h"

namespace hodei::api {

// How the client finds the end of the body.
struct Framing {
  enum class End : uint8_t { Length, Chunks, Close, NoBody };

  End end = End::Length;
  uint64_t length = 0;
  bool keep_alive = false;
};

struct AnswerHead {
  int status = 200;
  std::string_view content_type;
  const HttpHeaders& headers;
};

// Whether a handler may answer that: a final status, and headers that are well-formed and not the host's own.
bool is_sound(const AnswerHead& head);

std::string head_text(const AnswerHead& head, const Framing& framing);

// 204 and 304 have no body, whatever a handler says.
bool has_body(int status);

std::string chunk_text(std::string_view piece);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace hodei::api

// What a client sends to the HTTP host: several requests, one after the other, cut anywhere. The first byte says into
// what pieces.
#include <vector>

#include "src/api/http/request_reader.h"
#include "tests/fuzz/fuzz.h"

using namespace hodei;
using namespace hodei::api;

constexpr uint64_t kMostBody = 500;

static HttpLimits small_limits() {
  HttpLimits limits;
  limits.target_bytes = 64;
  limits.header_bytes = 256;
  return limits;
}

// Reads everything and writes down what it was: the same text means the same requests and the same refusal.
class Transcript {
 public:
  Transcript(std::string_view input, size_t cut) : input_(input), cut_(cut), reader_(limits_) { read(); }
  const std::string& text() const { return text_; }

 private:
  using Step = RequestReader::Step;

  // False: there is nothing more.
  bool feed() {
    const size_t size = std::min({cut_, reader_.room(), input_.size()});
    REQUIRE(reader_.room() > 0, "it can never go on");
    reader_.append(input_.substr(0, size));
    input_.remove_prefix(size);
    return size > 0;
  }
  void read() {
    while (true) {
      Step step = Step::NeedMore;
      while ((step = reader_.read_head()) == Step::NeedMore) {
        if (!feed()) return;
      }
      if (step == Step::Refused) return refused();
      note_head(reader_.head());
      reader_.limit_body(kMostBody);
      if (!read_body()) return;
      reader_.start_next();
    }
  }
  bool read_body() {
    std::string body;
    std::string piece;
    while (true) {
      const Step step = reader_.read_body(piece);
      if (step == Step::NeedMore && !feed()) return false;
      if (step == Step::Refused) return refused(), false;
      if (step == Step::End) break;
      REQUIRE(step != Step::Ready || (!piece.empty() && piece.size() <= kBlockBytes), piece.size());
      body += piece;
      REQUIRE(body.size() <= kMostBody, body.size());
    }
    REQUIRE(reader_.is_complete(), "its end was seen");
    REQUIRE(reader_.head().is_chunked || body.size() == reader_.head().content_length.value_or(0), body.size());
    text_ += cat("body ", body, "\n");
    return true;
  }
  void refused() {
    const Refusal& why = reader_.refusal();
    REQUIRE(why.status >= 400 && why.status < 600 && why.message.ends_with('\n'), why.status);
    text_ += cat("refused with ", why.status, "\n");
  }
  void note_head(const RequestHead& head) {
    REQUIRE(head.target.size() <= limits_.target_bytes, head.target);
    REQUIRE(!(head.is_chunked && head.content_length), "two ends");
    text_ += cat(head.method, " ", head.target, " ", head.version, head.keep_alive, head.expects_continue, "\n");
    for (const auto& [name, value] : head.headers) {
      REQUIRE(!name.empty() && name.find_first_of("\r\n: ") == std::string::npos, name);
      REQUIRE(value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos, value);
      text_ += cat(name, ": ", value, "\n");
    }
  }

  std::string_view input_;
  const size_t cut_;
  const HttpLimits limits_ = small_limits();
  RequestReader reader_;
  std::string text_;
};

FUZZ_TARGET(input) {
  if (input.empty()) return;
  const size_t cut = static_cast<unsigned char>(input[0]) + 1;
  input.remove_prefix(1);
  const Transcript whole(input, input.size() + 1);
  const Transcript in_pieces(input, cut);
  REQUIRE(whole.text() == in_pieces.text(), whole.text(), "----\n", in_pieces.text());
  const Transcript in_bytes(input, 1);
  REQUIRE(whole.text() == in_bytes.text(), whole.text(), "----\n", in_bytes.text());
}

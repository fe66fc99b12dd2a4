#include "src/api/http/request_reader.h"

#include "gtest/gtest.h"
#include "src/base/text.h"

namespace hodei::api::request_reader_test {
namespace {

using Step = RequestReader::Step;

class RequestReaderTest : public testing::Test {
 protected:
  // Feeds the text in pieces and reads one request; what is left stays for the next.
  Step read(std::string_view text, size_t cut = SIZE_MAX) {
    body_.clear();
    Step step = Step::NeedMore;
    while ((step = reader_.read_head()) == Step::NeedMore) {
      if (!feed(text, cut)) return step;
    }
    if (step == Step::Refused) return step;
    reader_.limit_body(most_);
    std::string piece;
    while (true) {
      step = reader_.read_body(piece);
      body_ += piece;
      if (step == Step::NeedMore && !feed(text, cut)) return step;
      if (step != Step::NeedMore && step != Step::Ready) return step;
    }
  }
  bool feed(std::string_view& text, size_t cut) {
    const size_t size = std::min({cut, reader_.room(), text.size()});
    reader_.append(text.substr(0, size));
    text.remove_prefix(size);
    return size > 0;
  }
  int refused(std::string_view text, size_t cut = SIZE_MAX) {
    EXPECT_EQ(read(text, cut), Step::Refused) << text;
    const int status = reader_.refusal().status;
    reader_.discard();
    reader_.start_next();
    return status;
  }

  HttpLimits limits_;
  RequestReader reader_{limits_};
  uint64_t most_ = 1 << 20;
  std::string body_;
};

TEST_F(RequestReaderTest, ReadsARequestHoweverItIsCut) {
  const std::string text =
      "\r\nPOST /a?b=c HTTP/1.1\r\nHost: x\r\nX-Y:  z \r\nTransfer-Encoding: Chunked\r\nExpect: 100-Continue\r\n\r\n"
      "3\r\nabc\r\na;x=\"y\"\r\n0123456789\r\n0\r\nT: u\r\n\r\n";
  for (size_t cut = 1; cut <= text.size(); ++cut) {
    ASSERT_EQ(read(text, cut), Step::End) << cut << ": " << reader_.refusal().message;
    EXPECT_EQ(body_, "abc0123456789");
    const RequestHead& head = reader_.head();
    EXPECT_EQ(head.method, "POST");
    EXPECT_EQ(head.target, "/a?b=c");
    EXPECT_EQ(head.headers.get("x-y"), "z");
    EXPECT_EQ(head.headers.find("T"), std::nullopt) << "trailers are nobody's headers";
    EXPECT_TRUE(head.is_chunked && head.keep_alive && head.expects_continue);
    reader_.start_next();
  }
}

TEST_F(RequestReaderTest, KeepsWhatFollowsForTheNextRequest) {
  EXPECT_EQ(read("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nabGET /2 HTTP/1.0\r\n\r\n"), Step::End);
  EXPECT_EQ(body_, "ab");
  reader_.start_next();
  EXPECT_EQ(read(""), Step::End);
  EXPECT_EQ(reader_.head().target, "/2");
  EXPECT_FALSE(reader_.head().keep_alive);
}

TEST_F(RequestReaderTest, TakesMoreThanItsBufferHoldsOnlyAsItIsRead) {
  const std::string body(300'000, 'b');
  EXPECT_EQ(read(cat("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n", body)), Step::End);
  EXPECT_EQ(body_, body);
}

TEST_F(RequestReaderTest, HandsTinyChunksOnTogether) {
  std::string text = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 1000; ++i) text += "1\r\nx\r\n";
  reader_.append(text);
  ASSERT_EQ(reader_.read_head(), Step::Ready);
  reader_.limit_body(most_);
  std::string piece;
  EXPECT_EQ(reader_.read_body(piece), Step::Ready);
  EXPECT_EQ(piece.size(), 1000U);
}

TEST_F(RequestReaderTest, RefusesEarlyAndTheSameForEveryCut) {
  most_ = 4;
  const std::string too_long(limits_.target_bytes + 100, 'x');
  const std::vector<std::pair<std::string, int>> cases = {
      {"\x16", 400},
      {"GET / HTTP/1.1\nHost", 400},
      {"GET / HTTP/1.1\rHost", 400},
      {"GET / HTTP/1.1\r\nX: y\r\n z", 400},
      {"GET /" + too_long, 414},
      {cat("GET / HTTP/1.1\r\nX: ", std::string(limits_.header_bytes, 'x')), 431},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n", 413},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(5000, 'x'), 400},
      {cat("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;", std::string(5000, 'x'), "\r\na\r\n"),
       400},
      {"GET /\r\n\r\n", 400},
      {"GET / HTTP/1.1 \r\n\r\n", 400},
      {"GET /a b HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\n\r\n", 505},
      {"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost\r\n\r\n", 400},
  };
  for (const auto& [text, status] : cases) {
    for (const size_t cut : {size_t{1}, size_t{7}, SIZE_MAX}) EXPECT_EQ(refused(text, cut), status) << text << cut;
  }
}

TEST_F(RequestReaderTest, StaysRefused) {
  EXPECT_EQ(read("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"),
            Step::Refused);
  EXPECT_EQ(reader_.read_head(), Step::Refused);
}

}  // namespace
}  // namespace hodei::api::request_reader_test

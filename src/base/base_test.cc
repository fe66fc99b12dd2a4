#include "fmt/format.h"
#include "gtest/gtest.h"
#include "src/base/clip.h"
#include "src/base/codec.h"
#include "src/base/ids.h"
#include "src/base/random.h"
#include "src/base/sha256.h"
#include "src/base/time.h"

namespace hodei::base_test {
namespace {

TEST(Ids, EveryFormOfAJobIdReadsBackAsTheSameJob) {
  for (uint64_t n : {1ull, 31ull, 32ull, 123456789ull, (1ull << 60) - 1}) {
    const JobId id{n};
    EXPECT_EQ(parse_job_id(short_id(id)).value(), id) << short_id(id);
    EXPECT_EQ(parse_job_id(public_id(id)).value(), id) << public_id(id);
    const ExecutionId execution{id, 7};
    EXPECT_EQ(parse_execution_id(to_string(execution)).value(), execution);
  }
}

TEST(Ids, RefusesWhatIsNotAJobId) {
  for (const char* text : {"", "j", "j0", "../etc/passwd", "j1f3k/../x", "j1f3k\n", "-v", "jU", "jzzzzzzzzzzzzzzzz",
                           "12", "8f3a0000-0000-8000-8000-000000000000", "8f3a0000-0000-4000-8000-000000000001"}) {
    EXPECT_FALSE(parse_job_id(text).ok()) << text;
  }
}

class Installations : public testing::Test {
 protected:
  ~Installations() override { set_installation(""); }
};

TEST_F(Installations, GiveTheirJobsDifferentPublicIds) {
  const std::string nobodys = public_id(JobId{42});
  set_installation("one");
  const std::string of_one = public_id(JobId{42});
  set_installation("two");
  const std::string of_two = public_id(JobId{42});
  EXPECT_NE(of_one, of_two);
  EXPECT_EQ(parse_job_id(of_two).value(), JobId{42});
  EXPECT_FALSE(parse_job_id(of_one).ok()) << "it is of another installation";
  EXPECT_EQ(parse_job_id(nobodys).value(), JobId{42}) << "as earlier versions gave them out";
  set_installation("");
  EXPECT_EQ(parse_job_id(of_one).value(), JobId{42}) << "a client leaves the check to its server";
}

TEST_F(Installations, AMangledPublicIdIsRefused) {
  set_installation("one");
  std::string id = public_id(JobId{42});
  id.back() = id.back() == 'a' ? 'b' : 'a';
  EXPECT_FALSE(parse_job_id(id).ok());
}

TEST(Ids, NamesKeepToAPlainAlphabet) {
  EXPECT_TRUE(check_name("worker_id", "w-1.a_B").ok());
  for (const char* text : {"", "-v", "a b", "a/b", "..", "a;id", "$(id)", "a\nb"}) {
    EXPECT_FALSE(check_name("worker_id", text).ok()) << text;
  }
  EXPECT_FALSE(check_name("worker_id", std::string(300, 'a')).ok());
}

TEST(Codec, ReadsBackWhatItWrote) {
  const std::string bytes = Encoder().u64(0).u64(UINT64_MAX).i64(-5).i64(INT64_MIN).text("hello").take();
  Decoder in(bytes);
  EXPECT_EQ(in.u64(), 0u);
  EXPECT_EQ(in.u64(), UINT64_MAX);
  EXPECT_EQ(in.i64(), -5);
  EXPECT_EQ(in.i64(), INT64_MIN);
  EXPECT_EQ(in.text(), "hello");
  EXPECT_TRUE(in.done() && in.ok());
}

TEST(Codec, AShortInputReadsAsZerosAndIsNotOk) {
  Decoder in(
      "\x05"
      "ab");
  EXPECT_EQ(in.text(), "");
  EXPECT_FALSE(in.ok());
}

TEST(Sha256, AgreesWithThePublishedExamples) {
  const auto hex = [](std::string_view text) {
    std::string out;
    for (uint8_t b : sha256(text)) out += fmt::format("{:02x}", b);
    return out;
  };
  EXPECT_EQ(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(HmacSha256, AgreesWithThePublishedExamples) {  // RFC 4231, cases 1, 2 and 6
  const auto hex = [](std::string_view key, std::string_view text) {
    std::string out;
    for (uint8_t b : HmacSha256(key)(text)) out += fmt::format("{:02x}", b);
    return out;
  };
  EXPECT_EQ(hex(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Sha256, InPiecesIsTheSameAsInOne) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text.push_back(static_cast<char>(i * 7));
  for (const size_t size : {0, 1, 55, 56, 63, 64, 65, 119, 128, 1000}) {
    const std::string_view part = std::string_view(text).substr(0, size);
    std::string whole;
    for (uint8_t b : sha256(part)) whole += fmt::format("{:02x}", b);
    for (const size_t step : {1, 7, 64, 100}) {
      Sha256 pieces;
      for (size_t at = 0; at < size; at += step) pieces.add(part.substr(at, step));
      EXPECT_EQ(pieces.hex(), whole) << size << " in pieces of " << step;
    }
  }
}

TEST(Random, UuidsHaveVersionFourAndDiffer) {
  const std::string a = random_uuid();
  EXPECT_EQ(a.size(), 36u);
  EXPECT_EQ(a[14], '4');
  EXPECT_NE(std::string_view("89ab").find(a[19]), std::string_view::npos);
  EXPECT_NE(a, random_uuid());
}

TEST(Time, PrintsUtc) { EXPECT_EQ(format_utc(WallTime{1'700'000'000'123'456}), "2023-11-14T22:13:20.123Z"); }

TEST(Clip, CutsBetweenCharacters) {
  EXPECT_EQ(clip("hello", 10), "hello");
  EXPECT_EQ(clip("hello", 2), "he");
  EXPECT_EQ(clip("a\u00e9b", 2), "a");
  EXPECT_EQ(clip("a\u00e9b", 3), "a\u00e9");
  EXPECT_EQ(clip("\U0001f680\U0001f680", 7), "\U0001f680");
  EXPECT_EQ(clip("\U0001f680", 3), "");
}

}  // namespace
}  // namespace hodei::base_test

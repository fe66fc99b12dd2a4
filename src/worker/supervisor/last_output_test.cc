#include "src/worker/supervisor/last_output.h"

#include "gtest/gtest.h"
#include "src/worker/output/ring_masker.h"
#include "src/worker/output/secret_forms.h"

namespace hodei::worker::last_output_test {
namespace {

constexpr ExecutionId kRun{JobId{5}, 1};

struct Output {
  RingMemory ring = RingMemory::create(64 << 10).value();
  RingWriter writer{&ring};
  size_t room = kMaxLastOutput;
};

std::vector<OutputRecord> all_of(RingMemory& ring) {
  size_t room = SIZE_MAX;
  return unsent_output(ring, {}, 0, room);
}

TEST(LastOutput, LiesInARingAgainAsItLayBefore) {
  Output output;
  output.writer.append(OutputStream::Stdout, {10}, "acknowledged\n");
  output.writer.append(OutputStream::Stdout, {11}, "first\n");
  output.writer.skip(100);  // a gap
  output.writer.append(OutputStream::Stderr, {12}, "second\n");
  RingReader(&output.ring).free_until(13);
  const std::vector<OutputRecord> records = unsent_output(output.ring, {}, output.writer.log_bytes(), output.room);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0], (OutputRecord{13, {11}, OutputStream::Stdout, "first\n"}));
  EXPECT_EQ(records[1], (OutputRecord{119, {12}, OutputStream::Stderr, "second\n"}));
  const std::optional<LastOutput> read = decode_last_output(encode(LastOutput{{kRun, records}}));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->at(kRun), records);
  RingMemory again = RingMemory::create(64 << 10).value();
  refill(again, read->at(kRun));
  EXPECT_EQ(all_of(again), records);
}

TEST(LastOutput, OfAFullRingFindsRoomInTheNextOne) {
  Output output;
  for (int i = 0; output.writer.append(OutputStream::Stdout, {i}, std::string(static_cast<size_t>(1 + i % 70), 'x'));
       ++i) {
  }
  const std::vector<OutputRecord> records = all_of(output.ring);
  ASSERT_GT(records.size(), 500u);
  RingMemory again = RingMemory::create(ring_bytes_for(records)).value();
  refill(again, records);
  EXPECT_EQ(all_of(again), records);
}

TEST(LastOutput, HoldsNoSecretHoweverFarTheAgentWas) {
  const std::map<std::string, std::string> secrets{{"token", "s3cr3t-value"}};
  for (const bool looked : {false, true}) {
    Output output;
    output.writer.append(OutputStream::Stdout, {1}, "one s3cr3t-value, two s3cr3t");
    if (looked) RingMasker(&output.ring, mask_for(secrets)).look(MonoTime{1});
    output.writer.append(OutputStream::Stdout, {2}, "-value, czNjcjN0LXZhbHVl, end s3cr3t-v");
    std::string all;
    for (const OutputRecord& record : unsent_output(output.ring, secrets, output.writer.log_bytes(), output.room))
      all += record.bytes;
    EXPECT_EQ(all, "one ************, two ************, ****************, end ********") << looked;
  }
}

TEST(LastOutput, HasABound) {
  Output output;
  for (int i = 0; i < 10; ++i) output.writer.append(OutputStream::Stdout, {1}, std::string(1000, 'x'));
  output.room = 3500;
  EXPECT_EQ(unsent_output(output.ring, {}, 10'000, output.room).size(), 3u);
  EXPECT_EQ(unsent_output(output.ring, {}, 10'000, output.room).size(), 0u) << "of all executions together";
}

TEST(LastOutput, ThatIsCutShortOrMakesNoSenseIsNone) {
  const LastOutput output{{kRun, {{5, {1}, OutputStream::Stdout, "first"}, {10, {1}, OutputStream::Stderr, "second"}}}};
  const std::string whole = encode(output);
  EXPECT_EQ(decode_last_output(whole), output);
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(decode_last_output(whole.substr(0, n))) << n;
  LastOutput goes_back = output;
  goes_back[kRun][1].offset = 9;
  EXPECT_FALSE(decode_last_output(encode(goes_back)));
}

}  // namespace
}  // namespace hodei::worker::last_output_test

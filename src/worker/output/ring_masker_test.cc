// Output with secrets in it goes through rings, cuts, acknowledgements, broken streams and deaths of the agent. What
// arrives must be what one gets by masking each stream as a whole.
#include "src/worker/output/ring_masker.h"

#include <map>
#include <random>

#include "gtest/gtest.h"
#include "src/base/text.h"
#include "src/worker/output/log_pump.h"
#include "src/worker/output/secret_forms.h"

namespace hodei::worker::ring_masker_test {
namespace {

constexpr ExecutionId kRun{JobId{5}, 1};
constexpr Duration kForEver = 1000h;
constexpr MonoTime kNow{1'000'000};

std::shared_ptr<const Mask> mask_of(const std::string& value) { return mask_for({{"s", value}}); }

struct Output {
  explicit Output(const std::string& value, size_t capacity = 64 << 10)
      : mask(mask_of(value)), ring(RingMemory::create(capacity).value()), writer(&ring) {}

  bool print(const std::string& text, OutputStream stream = OutputStream::Stdout) {
    return writer.append(stream, {}, text);
  }

  std::shared_ptr<const Mask> mask;
  RingMemory ring;
  RingWriter writer;
};

std::string content(RingMemory& ring) {
  RingReader reader(&ring);
  std::string all;
  while (const auto chunk = reader.peek()) {
    all += chunk->bytes;
    reader.next();
  }
  return all;
}

TEST(RingMasker, HoldsBackExactlyWhatCouldStillBecomeASecret) {
  Output output("s3cr3t-value");
  RingMasker masker(&output.ring, output.mask);
  output.print("hello s3cr");
  masker.look(kNow);
  EXPECT_EQ(masker.safe(), 6u);
  output.print("3t-no");
  masker.look(kNow);
  EXPECT_EQ(masker.safe(), 15u);
  EXPECT_EQ(content(output.ring), "hello s3cr3t-no");
  output.print(" s3cr3t-");
  output.print("other stream", OutputStream::Stderr);
  masker.look(kNow);
  EXPECT_EQ(masker.safe(), 16u);
  output.print("value.");
  masker.look(kNow);
  EXPECT_EQ(masker.safe(), 15u + 8 + 12 + 6);
  EXPECT_EQ(content(output.ring), "hello s3cr3t-no *******other stream*****.");
}

TEST(RingMasker, ALittleThatIsHeldBackIsLetGoAtTheEnd) {
  Output output("s3cr3t-value");
  RingMasker masker(&output.ring, output.mask);
  output.print("s3cr3");
  masker.ended(5);
  EXPECT_EQ(masker.safe(), 5u);
  EXPECT_EQ(content(output.ring), "s3cr3");
}

TEST(RingMasker, TheBeginningOfASecretIsMaskedWhereTheJobEndsInTheMiddleOfIt) {
  Output output("s3cr3t-value");
  RingMasker masker(&output.ring, output.mask);
  output.print("say s3cr3t-val");
  masker.look(kNow);
  masker.ended(14);
  EXPECT_EQ(masker.safe(), 14u);
  EXPECT_EQ(content(output.ring), "say **********");
}

TEST(RingMasker, WhatIsHeldBackIsMaskedWhereTheOutputWasCutOff) {
  Output output("s3cr3t-value");
  RingMasker masker(&output.ring, output.mask);
  output.print("say s3cr3t-val");
  masker.look(kNow);
  output.writer.skip(100);  // logs.max_bytes was reached
  masker.ended(output.writer.log_bytes());
  EXPECT_EQ(masker.safe(), 14u);
  EXPECT_EQ(content(output.ring), "say **********");
}

TEST(RingMasker, BothHalvesOfASecretAreMaskedWhereOutputWasDropped) {
  for (size_t lost = 1; lost < 6; ++lost) {
    Output output("s3cr3t-value");
    RingMasker masker(&output.ring, output.mask);
    output.print("say s3cr");
    masker.look(kNow);
    EXPECT_EQ(masker.safe(), 4u);
    output.writer.skip(lost);
    const std::string rest = std::string("3t-value").substr(lost);
    output.print(rest.substr(0, 1));
    masker.look(kNow);
    output.print(rest.substr(1) + ", and more.");
    masker.look(kNow);
    EXPECT_EQ(content(output.ring), "say ****" + std::string(rest.size(), '*') + ", and more.") << lost;
    EXPECT_EQ(masker.safe(), output.writer.log_bytes());
  }
}

TEST(RingMasker, WhatIsNoSecretBehindAGapIsLeftAlone) {
  Output output("s3cr3t-value");
  RingMasker masker(&output.ring, output.mask);
  output.print("some words, ");
  output.writer.skip(10);
  output.print("volume of t-valley and so on");
  masker.look(kNow);
  EXPECT_EQ(content(output.ring), "some words, volume of t-valley and so on");
}

TEST(RingMasker, AnAgentThatDiesBehindAGapLeavesTheRestOfTheSecretMasked) {
  Output output("s3cr3t-value");
  output.print("say s3cr");
  { RingMasker(&output.ring, output.mask).look(kNow); }
  output.writer.skip(2);
  output.print("-va");
  { RingMasker(&output.ring, output.mask).look(kNow); }
  output.print("lue.");
  RingMasker third(&output.ring, output.mask);
  third.look(kNow);
  EXPECT_EQ(content(output.ring), "say **********.");
}

TEST(RingMasker, BrokenBase64IsMaskedAcrossRecords) {
  Output output("s3cr3t-value");  // czNjcjN0LXZhbHVl
  RingMasker masker(&output.ring, output.mask);
  output.print("czNjcj\r\n");
  masker.look(kNow);
  EXPECT_EQ(masker.safe(), 0u);
  output.print("N0LXZh\nbHVl;");
  masker.look(kNow);
  EXPECT_EQ(content(output.ring), "******\r\n******\n****;");
  EXPECT_EQ(masker.safe(), output.writer.log_bytes());
}

TEST(RingMasker, ALineBreakAsJsonWritesItIsSteppedOverAlsoBetweenTwoRecords) {
  Output output("s3cr3t-value");
  for (const std::string part : {"czNjcj", "\\", "n", "N0LXZh\\r", "\\nbHVl;"}) {
    output.print(part);
    RingMasker(&output.ring, output.mask).look(kNow);
  }
  EXPECT_EQ(content(output.ring), "******\\n******\\r\\n****;");
}

TEST(RingMasker, ALineThatEndsLikeTheBeginningOfASecretWaitsOnlyAMoment) {
  Output output("s3cr3t-value");
  RingMasker masker(&output.ring, output.mask);
  output.print("grade: c\n");
  EXPECT_FALSE(masker.look(kNow));
  EXPECT_EQ(masker.safe(), 7u);
  EXPECT_EQ(masker.lets_go_at(), kNow + RingMasker::kBreakWait);
  masker.look(masker.lets_go_at());
  EXPECT_EQ(masker.safe(), 9u);
  EXPECT_EQ(masker.lets_go_at(), kNever);
  output.print("zNjcjN0LXZhbHVl");
  masker.look(kNow + 1s);
  EXPECT_EQ(content(output.ring), "grade: c\n***************") << "what was let go is not, the rest is";
}

TEST(RingMasker, ALineThatEndsWithMuchOfASecretIsMaskedWhenTheRestDoesNotCome) {
  const std::string encoded = "czNjcjN0LXZhbHVl";
  for (size_t length = 1; length < encoded.size(); ++length) {
    Output output("s3cr3t-value");
    RingMasker masker(&output.ring, output.mask);
    output.print("a " + encoded.substr(0, length) + "\n");
    masker.look(kNow);
    masker.look(masker.lets_go_at());
    EXPECT_EQ(masker.safe(), output.writer.log_bytes());
    const bool is_shown = content(output.ring).find(encoded.substr(0, length)) != std::string::npos;
    EXPECT_EQ(is_shown, length < kShortestMasked) << length;
  }
}

TEST(RingMasker, LooksAtSoMuchAtATime) {
  Output output("s3cr3t-value");
  RingMasker masker(&output.ring, output.mask);
  for (int i = 0; i < 10; ++i) output.print(std::string(100, 'x'));
  EXPECT_TRUE(masker.look(kNow, 150));
  EXPECT_EQ(masker.safe(), 200u);
  EXPECT_FALSE(masker.look(kNow, 1000));
  EXPECT_EQ(masker.safe(), 1000u);
}

TEST(LogPump, SendsNothingBeforeItsMaskIsMade) {
  Output output("s3cr3t-value");
  LogPump pump({.interval = 0ms, .settle = 0ms}, [] {});
  pump.await_mask(kRun);
  pump.add(kRun, &output.ring);
  output.print("say s3cr3t-value\n");
  pump.ended(kRun, output.writer.log_bytes());
  const Now now{{1'000'000}, kNow};
  pump.look(now);
  EXPECT_TRUE(pump.take(now).empty());
  pump.set_mask(kRun, output.mask);
  pump.look(now);
  const std::vector<LogPart> parts = pump.take(now);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].data, "say ************\n");
  EXPECT_TRUE(parts[0].end);
}

TEST(RingMasker, ANewAgentGoesOnInTheMiddleOfASecret) {
  Output output("s3cr3t-value");
  output.print("say s3cr");
  { RingMasker(&output.ring, output.mask).look(kNow); }
  output.print("3t-v");
  {
    RingMasker second(&output.ring, output.mask);
    EXPECT_EQ(second.safe(), 4u);
    second.look(kNow);
    EXPECT_EQ(second.safe(), 4u);
  }
  output.print("alue.");
  RingMasker third(&output.ring, output.mask);
  third.look(kNow);
  EXPECT_EQ(content(output.ring), "say ************.");
  EXPECT_EQ(third.safe(), 17u);
}

TEST(RingMasker, AnAgentThatKnowsOtherFormsMasksTooMuchRatherThanTooLittle) {
  for (const OutputStream stream : {OutputStream::Stdout, OutputStream::Stderr}) {
    Output output("s3cr3t-value");
    output.print("say s3cr3t", stream);
    { RingMasker(&output.ring, output.mask).look(kNow); }
    RingMasker newer(&output.ring, mask_for({{"s", "s3cr3t-value"}, {"t", "another form"}}));
    output.print("-value, and then as many words as the longest form has letters, so that what follows them is seen, " +
                     std::string("and is no secret at all"),
                 stream);
    newer.look(kNow);
    const std::string out = content(output.ring);
    EXPECT_EQ(out.find("s3cr3t"), std::string::npos);
    EXPECT_EQ(out.find("value"), std::string::npos);
    EXPECT_NE(out.find("no secret at all"), std::string::npos);
  }
}

TEST(RingMasker, ARingThatIsUsedAgainKnowsNothingOfItsLastExecution) {
  Output output("s3cr3t-value");
  output.print("s3cr3t-");
  { RingMasker(&output.ring, output.mask).look(kNow); }
  output.ring.recycle();
  RingWriter next(&output.ring);
  next.append(OutputStream::Stdout, {}, "value.");
  RingMasker masker(&output.ring, output.mask);
  masker.look(kNow);
  EXPECT_EQ(content(output.ring), "value.");
  EXPECT_EQ(masker.safe(), 6u);
}

TEST(RingMasker, GivesWayWhenTheRingIsFull) {
  Output output("s3cr3t-value", 4096);
  LogPump pump({.interval = 0ms, .settle = 0ms}, [] {});
  pump.add(kRun, &output.ring, output.mask);
  ASSERT_TRUE(output.print("s3cr3t-val"));
  Now now{{1'000'000}, {1'000'000}};
  std::string out;
  // The other stream fills the ring: the rest of the first can never come before there is room.
  for (int i = 0; i < 400; ++i) {
    if (!output.print("the other stream goes on and on\n", OutputStream::Stderr)) output.ring.header().starved.store(1);
    now = {now.wall + 200ms, now.mono + 200ms};
    pump.look(now);
    for (const LogPart& part : pump.take(now)) {
      out += part.data;
      pump.acked(kRun, part.offset + part.data.size());
    }
  }
  EXPECT_EQ(out.substr(0, 12), "**********th");
  EXPECT_GT(out.size(), 10'000u);
}

// One random life of an execution's output. The agent dies and comes back, streams break, acknowledgements come late.
class Life {
 public:
  explicit Life(uint64_t seed) : random_(seed), value_(some_value()), output_(value_, 4096 + pick(3) * 8192) {
    connect();
  }

  void run() {
    for (int i = 0; i < 400; ++i) {
      switch (pick(8)) {
        case 0:
        case 1:
        case 2: print(); break;
        case 3:
        case 4: send(); break;
        case 5: acknowledge(); break;
        case 6: break_stream(); break;
        default:
          if (pick(4) == 0) restart_agent();
          break;
      }
    }
    pump_->ended(kRun, printed_.size());
    for (int i = 0; i < 200 && !pump_->all_acked(kRun); ++i) {
      send();
      durable_ = received_.size();
      pump_->acked(kRun, durable_);
    }
  }

  const std::string& received() const { return received_; }
  const std::string& value() const { return value_; }
  // Each stream masked as a whole, put together again as it was printed.
  std::string expected() const {
    std::string streams[2];
    for (size_t i = 0; i < printed_.size(); ++i) streams[which_[i] == '1'] += printed_[i];
    for (std::string& stream : streams) stream = masked(stream, *output_.mask, TextEnd::Ended);
    std::string out;
    size_t at[2] = {0, 0};
    for (const char which : which_) out += streams[which == '1'][at[which == '1']++];
    return out;
  }

 private:
  uint64_t pick(uint64_t below) { return random_() % below; }
  std::string some_value() {
    const char* values[] = {"abcabcabc",   "s3cr3t-value",      "aaaaaaa", "line one\nline two\n",
                            "p@ss w/rd+1", "abababab\nbabababa"};
    return values[pick(6)];
  }

  std::string some_break(Reading reading) {
    const char* breaks[] = {"\n", "\r\n ", "\\n", "\\r\\n", ":", ", 0x"};
    return breaks[pick(reading == Reading::Hex ? 6 : 4)];
  }

  void print() {
    const OutputStream stream = pick(3) == 0 ? OutputStream::Stderr : OutputStream::Stdout;
    const char which = stream == OutputStream::Stderr ? '1' : '0';
    std::string& left = left_[which - '0'];
    if (left.size() < 4) {
      const auto reading = static_cast<Reading>(pick(3));
      const std::set<std::string> forms = secret_forms({{"s", value_}}, reading);
      left += *std::next(forms.begin(), static_cast<long>(pick(forms.size())));
      if (pick(3) == 0) left += value_;
      if (reading != Reading::Exact && pick(2) == 0) left.insert(pick(left.size()), some_break(reading));
      if (pick(2) == 0) left += pick(2) == 0 ? "\n" : "ab";
    }
    const std::string part = left.substr(0, 1 + pick(left.size()));
    if (!output_.writer.append(stream, {}, part)) return;
    left.erase(0, part.size());
    printed_ += part;
    which_ += std::string(part.size(), which);
  }

  void send() {
    now_ = {now_.wall + 150ms, now_.mono + 150ms};
    pump_->look(now_);
    for (const LogPart& part : pump_->take(now_)) {
      ASSERT_EQ(part.lost, 0u);
      ASSERT_LE(part.offset, received_.size());
      // The server keeps what it has: what is sent again is left out.
      const size_t known = received_.size() - part.offset;
      if (known < part.data.size()) received_ += part.data.substr(known);
    }
  }

  void acknowledge() {
    if (received_.size() == durable_) return;
    durable_ += pick(received_.size() - durable_ + 1);
    pump_->acked(kRun, durable_);
  }

  // What was not durable is lost on the way; the server says where to go on.
  void break_stream() {
    received_.resize(durable_);
    pump_->restart();
    pump_->resume_at(kRun, durable_);
  }

  void connect() {
    pump_ = std::make_unique<LogPump>(LogPumpConfig{.message_bytes = 64 + pick(4096),
                                                    .interval = 0ms,
                                                    .settle = 0ms,
                                                    .hold_open = 1ms,
                                                    .mask_bytes = 1 + pick(4096),
                                                    .break_wait = kForEver},
                                      [] {});
    pump_->add(kRun, &output_.ring, output_.mask);
  }

  void restart_agent() {
    connect();
    break_stream();
  }

  std::mt19937_64 random_;
  std::string value_;
  Output output_;
  std::unique_ptr<LogPump> pump_;
  Now now_{{1'000'000}, {1'000'000}};
  std::string printed_, which_, received_, left_[2];
  size_t durable_ = 0;
};

TEST(RingMasker, WhatArrivesIsTheWholeOutputMasked) {
  size_t hidden = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Life life(seed);
    life.run();
    ASSERT_EQ(life.received(), life.expected()) << "seed " << seed << ", secret " << life.value();
    hidden += static_cast<size_t>(std::count(life.received().begin(), life.received().end(), '*'));
  }
  EXPECT_GT(hidden, 100'000u) << "too little was masked to mean anything";
}

}  // namespace
}  // namespace hodei::worker::ring_masker_test

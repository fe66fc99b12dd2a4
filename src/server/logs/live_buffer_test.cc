#include "src/server/logs/live_buffer.h"

#include "gtest/gtest.h"
#include "src/store/conformance/log_store_suite.h"

namespace hodei::server::live_buffer_test {
namespace {

constexpr ExecutionId kOne{JobId{7}, 1};

std::shared_ptr<const LivePiece> piece(int64_t offset, const std::string& text, int64_t begins = -1) {
  return std::make_shared<LivePiece>(
      LivePiece{.piece = store::piece_of(kOne, offset, text), .begins = begins < 0 ? offset : begins});
}

TEST(LiveBuffer, KeepsAtLeastTheLastEntries) {
  LiveBuffer buffer;
  for (int i = 0; i < 10; ++i) buffer.add(piece(i * 4, "a\nb\n"), 5, 1 << 20);
  EXPECT_EQ(buffer.find(kOne, 24), nullptr);
  EXPECT_NE(buffer.find(kOne, 28), nullptr) << "three pieces hold the last five entries";
  EXPECT_NE(buffer.find(kOne, 39), nullptr);
  EXPECT_EQ(buffer.find(kOne, 40), nullptr) << "not printed yet";
  buffer.add(piece(40, "a\nb\n"), 4, 1 << 20);
  EXPECT_EQ(buffer.find(kOne, 32), nullptr) << "and no piece more than is needed for them";
  EXPECT_NE(buffer.find(kOne, 36), nullptr);
}

TEST(LiveBuffer, StaysBelowItsBytes) {
  LiveBuffer buffer;
  for (int i = 0; i < 100; ++i) {
    buffer.add(piece(i * 100, std::string(100, 'x')), 1000, 1000);
    EXPECT_LE(buffer.cost(), 1000u);
  }
  buffer.add(piece(10'000, std::string(5000, 'x')), 1000, 1000);
  EXPECT_EQ(buffer.cost(), 0u) << "a piece that does not fit is left to the store";
  EXPECT_EQ(buffer.find(kOne, 9900), nullptr);
}

TEST(LiveBuffer, AReaderInFrontOfAHoleGetsThePieceBehindIt) {
  LiveBuffer buffer;
  buffer.add(piece(0, "a\n"), 1000, 1 << 20);
  buffer.add(piece(50, "b\n", 2), 1000, 1 << 20);
  ASSERT_NE(buffer.find(kOne, 2), nullptr);
  EXPECT_EQ(buffer.find(kOne, 2)->piece.offset, 50);
  EXPECT_EQ(buffer.find({JobId{7}, 2}, 2), nullptr);
}

}  // namespace
}  // namespace hodei::server::live_buffer_test

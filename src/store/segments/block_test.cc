#include "src/store/segments/block.h"

#include <random>

#include "gtest/gtest.h"
#include "src/store/conformance/log_store_suite.h"
#include "src/store/segments/append_plan.h"
#include "src/store/segments/crc32c.h"

namespace hodei::store::block_test {
namespace {

constexpr ExecutionId kOne{JobId{7}, 1};

absl::StatusOr<std::vector<BlockPlan>> plan(const std::vector<LogPiece>& pieces) {
  return plan_append(pieces, [](ExecutionId) { return LogTail{}; });
}

TEST(Crc32c, GivesTheStandardsExampleAlsoInParts) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c("456789", crc32c("123")), 0xe3069283u);
}

TEST(AppendPlan, GathersThePiecesOfAnExecutionIntoOneBlock) {
  const std::vector<LogPiece> pieces{piece_of(kOne, 0, "a\n"), piece_of({JobId{8}, 1}, 0, "x\n"),
                                     piece_of(kOne, 2, "b\n")};
  const auto blocks = plan(pieces).value();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].parts.size(), 2u);
  EXPECT_EQ(blocks[0].data_bytes, 4u);
}

TEST(AppendPlan, CutsALargePieceBetweenLines) {
  std::string text;
  while (text.size() < 3 * kBlockDataBytes) text += std::string(1000, 'x') + "\n";
  const std::vector<LogPiece> pieces{piece_of(kOne, 0, text)};
  const auto blocks = plan(pieces).value();
  EXPECT_EQ(blocks.size(), 4u);
  for (const BlockPlan& block : blocks) EXPECT_LE(block.data_bytes, kBlockDataBytes);
}

TEST(AppendPlan, AHoleBeginsABlock) {
  const std::vector<LogPiece> pieces{piece_of(kOne, 0, "a\n"), piece_of(kOne, 10, "b\n")};
  const auto blocks = plan(pieces).value();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[1].parts[0].lost, 8);
}

TEST(Block, StoresRawWhatDoesNotCompress) {
  std::mt19937_64 random(1);
  std::string noise;
  while (noise.size() < 10'000) noise.push_back(static_cast<char>(random()));
  BlockEncoder encoder;
  std::string bytes;
  const std::vector<LogPiece> hard{piece_of(kOne, 0, noise)};
  EXPECT_FALSE(encoder.add(plan(hard)->at(0), {}, bytes).has(BlockHeader::kCompressed));
  const std::vector<LogPiece> easy{piece_of(kOne, 0, std::string(10'000, 'x'))};
  EXPECT_TRUE(encoder.add(plan(easy)->at(0), {}, bytes).has(BlockHeader::kCompressed));
}

TEST(Block, AnyChangedByteIsNoticed) {
  BlockEncoder encoder;
  std::string bytes;
  const std::vector<LogPiece> pieces{piece_of(kOne, 5, "some output\nof a job\n" + std::string(200, '.'))};
  encoder.add(plan(pieces)->at(0), {1}, bytes);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string broken = bytes;
    broken[i] = static_cast<char>(broken[i] ^ 0x10);
    const std::optional<BlockHeader> header = read_header(broken);
    EXPECT_TRUE(!header || !decode_block(*header, broken).ok()) << "byte " << i;
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string_view torn = std::string_view(bytes).substr(0, size);
    const std::optional<BlockHeader> header = read_header(torn);
    EXPECT_TRUE(!header || !is_whole(*header, torn)) << "cut at " << size;
  }
}

}  // namespace
}  // namespace hodei::store::block_test

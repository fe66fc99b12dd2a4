#include "src/worker/agent/worker_info.h"

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hodei::worker::fitness_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Fitness : public testing::Test {
 protected:
  Fitness() { fs::create_directories(folder_); }
  ~Fitness() override { fs::remove_all(folder_); }
  void mark(const std::string& text) { std::ofstream(folder_ / kUnfitFile) << text; }

  const fs::path folder_ = fs::path(testing::TempDir()) / "hodei_fitness_test";
};

TEST_F(Fitness, AWorkerWithRoomIsWell) { EXPECT_EQ(status_of(folder_), "ok"); }

TEST_F(Fitness, AFileInTheStateFolderTakesItOutOfService) {
  mark("the gpu fell off the bus\nsince noon\n");
  EXPECT_EQ(status_of(folder_), "the gpu fell off the bus");
  mark("");
  EXPECT_THAT(status_of(folder_), HasSubstr("unfit"));
  fs::remove(folder_ / kUnfitFile);
  EXPECT_EQ(status_of(folder_), "ok");
}

TEST_F(Fitness, WithoutItsFolderItIsNot) { EXPECT_THAT(status_of(folder_ / "gone"), HasSubstr("cannot be written")); }

}  // namespace
}  // namespace hodei::worker::fitness_test

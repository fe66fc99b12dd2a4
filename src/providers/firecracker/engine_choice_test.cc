// Finding out which engine works, with programs that are no machine monitors.
#include "src/providers/firecracker/engine_choice.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "src/base/pause.h"
#include "src/base/text.h"

namespace hodei::providers::firecracker::engine_choice_test {
namespace {

namespace fs = std::filesystem;

class EngineChoiceTest : public testing::Test {
 protected:
  EngineChoiceTest() {
    char name[] = "/tmp/hodei-engine-test-XXXXXX";
    folder_ = mkdtemp(name);
    program("worker", "exec 3<&0; cat <&3 &");  // keeps the console
    // A guest boots with it when somebody says so: until then it hangs, as where KVM is there and does not work.
    program("qemu", cat("echo $$ > ", path("pid"), "; while [ ! -e ", path("go"),
                        " ]; do sleep 0.02; done; echo 'a guest has booted'; exec sleep 1000"));
    std::ofstream(path("kernel")) << "kernel";
    fs::create_directories(path("machines"));
    settings_.engine = EngineChoice::Qemu;
    settings_.kernel = path("kernel");
    settings_.qemu_binary = path("qemu");
    settings_.firecracker_binary = path("firecracker");
  }
  ~EngineChoiceTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return cat(folder_, "/", name); }
  void program(const std::string& name, const std::string& script) const {
    std::ofstream(path(name)) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(path(name), fs::perms::owner_all);
  }
  void say_go() const { std::ofstream(path("go")) << "now"; }
  std::unique_ptr<EngineChooser> chooser(Duration head_start) const {
    return std::make_unique<EngineChooser>(settings_, path("machines"), path("worker"), "", head_start);
  }
  template <class Condition>
  static bool soon(const Condition& condition) {
    const SystemClock clock;
    const MonoTime end = clock.now().mono + 20s;
    while (!condition() && clock.now().mono < end) pause_for(10ms);
    return condition();
  }

  std::string folder_;
  Settings settings_;
};

TEST_F(EngineChoiceTest, WhoAsksDoesNotWaitForAKvmThatHangs) {
  const auto engines = chooser(50ms);
  const absl::StatusOr<Engine*> first = engines->get();
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)->name(), "qemu with software emulation");
  EXPECT_TRUE(engines->is_provisional());
  say_go();
  ASSERT_TRUE(soon([&] { return !engines->is_provisional(); }));
  EXPECT_EQ((*engines->get())->name(), "qemu with KVM") << "which is used from then on";
  EXPECT_EQ((*first)->name(), "qemu with software emulation") << "whoever has it may go on with it";
}

TEST_F(EngineChoiceTest, AKvmThatWorksIsWaitedFor) {
  say_go();
  EXPECT_EQ((*chooser(20s)->get())->name(), "qemu with KVM");
  program("qemu", "exit 1");
  EXPECT_EQ((*chooser(20s)->get())->name(), "qemu with software emulation") << "another program is tried anew";
}

TEST_F(EngineChoiceTest, TheVerdictIsKept) {
  say_go();
  ASSERT_TRUE(chooser(20s)->get().ok());
  fs::remove(path("pid"));
  EXPECT_EQ((*chooser(20s)->get())->name(), "qemu with KVM");
  EXPECT_FALSE(fs::exists(path("pid"))) << "no guest was booted for it";
}

TEST_F(EngineChoiceTest, NothingIsDecidedForWhoAskedForFirecracker) {
  settings_.engine = EngineChoice::Firecracker;
  const absl::StatusOr<Engine*> none = chooser(Duration(0))->get();
  EXPECT_EQ(none.status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(EngineChoiceTest, TheEndDoesNotWaitForAProbeAndLeavesNothingOfIt) {
  {
    const auto engines = chooser(50ms);
    ASSERT_TRUE(engines->get().ok());
    ASSERT_TRUE(soon([&] { return fs::exists(path("pid")); }));
  }
  for (const auto& entry : fs::directory_iterator(path("machines"))) {
    const std::string name = entry.path().filename();
    EXPECT_FALSE(name.starts_with(".probe-") || name.starts_with(".booted-")) << name;
  }
}

}  // namespace
}  // namespace hodei::providers::firecracker::engine_choice_test

// Which engine is chosen, with programs that stand for Firecracker and QEMU: what is remembered of a probe, how long,
// and the words for it.
#include "src/providers/firecracker/engine_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "src/base/text.h"

namespace hodei::providers::firecracker::engine_verdict_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Writes what the monitor of a real machine writes to its log, and ends.
constexpr const char* kNoKvm = "echo '[ERROR] KVM is of no use here' >> firecracker.log; exit 1";
// Boots without KVM only.
constexpr const char* kEmulates = "case \"$*\" in *'-accel kvm'*) echo 'no such accelerator'; exit 1 ;; esac; exit 0";
constexpr Duration kPatience = 60s;  // the machine may be busy; no engine is to stand in meanwhile
constexpr const char* kBoots = "echo 'a guest has booted'; exec sleep 100";

class EngineVerdictTest : public testing::Test {
 protected:
  EngineVerdictTest() {
    char name[] = "/tmp/hodei-engine-test-XXXXXX";
    folder_ = mkdtemp(name);
    fs::create_directories(path("provider"));
    std::ofstream(path("vmlinux")) << "kernel";
    // As the real worker keeps a console: in the background, until nobody writes any more.
    program("worker", "exec 3<&0; cat <&3 &");
    settings_.kernel = path("vmlinux");
    settings_.firecracker_binary = path("firecracker");
    settings_.qemu_binary = path("qemu");
  }
  ~EngineVerdictTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  // Notes each of its starts in a file beside it.
  void program(const std::string& name, const std::string& does) const {
    std::ofstream(path(name)) << "#!/bin/sh\necho start >> '" << path(name) << ".starts'\n" << does << "\n";
    fs::permissions(path(name), fs::perms::owner_all);
  }
  int starts(const std::string& name) const {
    std::ifstream in(path(name) + ".starts");
    return static_cast<int>(std::count(std::istreambuf_iterator<char>(in), {}, '\n'));
  }

  // As a server that has just been started.
  std::unique_ptr<EngineChooser> a_chooser(EngineChoice choice) {
    settings_.engine = choice;
    return std::make_unique<EngineChooser>(settings_, path("provider"), path("worker"), "hodei-test", kPatience);
  }
  std::string refusal() {
    const absl::StatusOr<Engine*> engine = a_chooser(EngineChoice::Firecracker)->get();
    EXPECT_EQ(engine.status().code(), absl::StatusCode::kFailedPrecondition);
    return std::string(engine.status().message());
  }

  // The only verdict that there is; another one may be put in its place, of this age.
  fs::path note() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(path("provider"))) {
      if (entry.path().filename().string().starts_with(".booted-")) found.push_back(entry.path());
    }
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? fs::path() : found[0];
  }
  void found_before(const std::string& verdict, std::chrono::minutes age) const {
    std::ifstream in(note());
    std::string boot, engine;
    std::getline(in, boot);
    std::getline(in, engine);
    std::ofstream(note(), std::ios::trunc) << boot << "\n" << engine << "\n" << verdict;
    fs::last_write_time(note(), fs::file_time_type::clock::now() - age);
  }

  std::string folder_;
  Settings settings_;
};

TEST_F(EngineVerdictTest, AutoSaysWhyItDidNotTakeFirecracker) {
  program("firecracker", kNoKvm);
  program("qemu", kEmulates);
  const auto chooser = a_chooser(EngineChoice::Auto);
  EXPECT_EQ(chooser->get().value()->name(), "qemu with software emulation");
  EXPECT_THAT(chooser->why_not_firecracker(),
              AllOf(HasSubstr("firecracker needs a working KVM"), HasSubstr("KVM is of no use here")));
}

TEST_F(EngineVerdictTest, AutoSaysThatFirecrackerIsNotInstalled) {
  program("qemu", kBoots);
  const auto chooser = a_chooser(EngineChoice::Auto);
  EXPECT_EQ(chooser->get().value()->name(), "qemu with KVM");
  EXPECT_THAT(chooser->why_not_firecracker(), HasSubstr(cat("cannot find the program ", path("firecracker"))));
}

TEST_F(EngineVerdictTest, WithoutAnyEngineBothReasonsAreTold) {
  program("firecracker", kNoKvm);
  const absl::StatusOr<Engine*> engine = a_chooser(EngineChoice::Auto)->get();
  EXPECT_THAT(std::string(engine.status().message()),
              AllOf(HasSubstr("KVM is of no use here"), HasSubstr(cat("cannot find the program ", path("qemu")))));
}

TEST_F(EngineVerdictTest, OneThatWasAskedForByNameNeedsNoReason) {
  program("qemu", kBoots);
  const auto chooser = a_chooser(EngineChoice::Qemu);
  ASSERT_TRUE(chooser->get().ok());
  EXPECT_EQ(chooser->why_not_firecracker(), "");
  EXPECT_EQ(starts("firecracker"), 0);
}

TEST_F(EngineVerdictTest, TheVerdictOutlivesTheServer) {
  program("firecracker", kNoKvm);
  program("qemu", kBoots);
  const auto first = a_chooser(EngineChoice::Auto);
  ASSERT_TRUE(first->get().ok());
  const auto second = a_chooser(EngineChoice::Auto);
  EXPECT_EQ(second->get().value()->name(), "qemu with KVM");
  EXPECT_EQ(second->why_not_firecracker(), first->why_not_firecracker());
  EXPECT_EQ(starts("firecracker"), 1);
  EXPECT_EQ(starts("qemu"), 1);
}

TEST_F(EngineVerdictTest, AnotherProgramOrKernelIsTriedAnew) {
  program("firecracker", kNoKvm);
  refusal();
  program("firecracker", kNoKvm);
  fs::last_write_time(path("firecracker"), fs::file_time_type::clock::now() + std::chrono::seconds(5));
  refusal();
  EXPECT_EQ(starts("firecracker"), 2);
  std::ofstream(path("newer")) << "kernel";
  settings_.kernel = path("newer");
  refusal();
  EXPECT_EQ(starts("firecracker"), 3);
}

TEST_F(EngineVerdictTest, AfterARestartOfTheHostItIsTriedAnew) {
  program("firecracker", kNoKvm);
  refusal();
  std::string text;
  std::getline(std::ifstream(note()), text, '\0');
  text[0] = text[0] == 'a' ? 'b' : 'a';  // the id of another boot
  std::ofstream(note(), std::ios::trunc) << text;
  refusal();
  EXPECT_EQ(starts("firecracker"), 2);
}

TEST_F(EngineVerdictTest, AVerdictAboutKvmIsKeptHoweverOldItIs) {
  program("firecracker", kNoKvm);
  refusal();
  found_before("there is no KVM", std::chrono::hours(1000));
  EXPECT_THAT(refusal(), HasSubstr("there is no KVM"));
  EXPECT_EQ(starts("firecracker"), 1);
}

TEST_F(EngineVerdictTest, TroubleThatMayBePutRightIsForgottenAfterTenMinutes) {
  program("firecracker", kNoKvm);
  refusal();
  found_before("trouble: the disk is full", std::chrono::minutes(9));
  EXPECT_THAT(refusal(), AllOf(HasSubstr("the disk is full"), Not(HasSubstr("trouble"))));
  EXPECT_EQ(starts("firecracker"), 1);
  found_before("trouble: the disk is full", std::chrono::minutes(11));
  EXPECT_THAT(refusal(), Not(HasSubstr("the disk is full")));
  EXPECT_EQ(starts("firecracker"), 2);
}

TEST_F(EngineVerdictTest, AGuestThatWasOnlySlowIsForgottenAfterADay) {
  const std::string slow = "firecracker did not boot a guest within 25 seconds; its console ends with: x";
  program("firecracker", kNoKvm);
  refusal();
  found_before(slow, std::chrono::hours(23));
  EXPECT_THAT(refusal(), HasSubstr(slow));
  EXPECT_EQ(starts("firecracker"), 1);
  found_before(slow, std::chrono::hours(25));
  refusal();
  EXPECT_EQ(starts("firecracker"), 2);
}

TEST_F(EngineVerdictTest, NothingOfAProbeIsLeft) {
  program("qemu", kBoots);
  ASSERT_TRUE(a_chooser(EngineChoice::Qemu)->get().ok());
  for (const auto& entry : fs::directory_iterator(path("provider"))) {
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("probe")));
  }
}

}  // namespace
}  // namespace hodei::providers::firecracker::engine_verdict_test

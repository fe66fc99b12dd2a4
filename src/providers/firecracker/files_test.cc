#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "src/base/pause.h"
#include "src/providers/firecracker/boot_files.h"
#include "src/providers/firecracker/leases.h"
#include "src/providers/firecracker/machine.h"
#include "src/providers/firecracker/machine_files.h"
#include "src/providers/firecracker/vm_process.h"

namespace hodei::providers::firecracker::files_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FirecrackerFiles : public testing::Test {
 protected:
  FirecrackerFiles() {
    char name[] = "/tmp/hodei-vm-test-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~FirecrackerFiles() override { fs::remove_all(folder_); }

  std::string content(const std::string& name) const {
    std::ifstream in(folder_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ + "/" + name) << text; }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  Launch launch(std::vector<std::string> arguments) const {
    return {
        .arguments = std::move(arguments), .folder = folder_, .record = path("process"), .output = path("console.log")};
  }

  std::string folder_;
};

TEST_F(FirecrackerFiles, AnAddressHasOneOwnerUntilItIsGivenBack) {
  Leases leases(path("leases"), parse_range("10.9.8.0/29").value(), [](const std::string&) { return true; });
  std::set<std::string> taken;
  for (int i = 0; i < 5; ++i) taken.insert(leases.take("w" + std::to_string(i), 7).value());
  EXPECT_EQ(taken.size(), 5u);
  EXPECT_EQ(leases.take("w5", 7).status().code(), absl::StatusCode::kResourceExhausted);
  leases.give_back("w3");
  EXPECT_TRUE(leases.take("w5", 7).ok());
}

TEST_F(FirecrackerFiles, AnAddressOfAWorkerThatIsGoneIsGivenToOthers) {
  std::set<std::string> alive = {"old"};
  const auto lives = [&alive](const std::string& worker) { return alive.contains(worker); };
  const AddressRange range = parse_range("10.9.8.0/29").value();
  const std::string address = Leases(path("leases"), range, lives).take("old", 0).value();
  EXPECT_NE(Leases(path("leases"), range, lives).take("new", 0).value(), address);
  alive.clear();
  EXPECT_EQ(Leases(path("leases"), range, lives).take("newer", 0).value(), address);
}

TEST_F(FirecrackerFiles, AProcessIsFoundByItsRecordAndEnded) {
  EXPECT_EQ(process_state(path("process")), ProcessState::NeverStarted);
  ASSERT_TRUE(start_recorded(launch({"/bin/sleep", "1000"})).ok());
  EXPECT_EQ(process_state(path("process")), ProcessState::Running);
  EXPECT_TRUE(end_process(path("process")).ok());
  EXPECT_EQ(process_state(path("process")), ProcessState::Ended);
  EXPECT_TRUE(end_process(path("process")).ok());
}

TEST_F(FirecrackerFiles, TheMonitorOfAMachineGetsNoneOfTheServersSettings) {
  for (const char* name : {"HODEI_SECRET_KEY", "HODEI_TOKEN", "DATABASE_URL"}) setenv(name, "canary", 1);
  const Launch what = launch({"/usr/bin/env"});
  ASSERT_TRUE(start_recorded(what).ok());
  for (const char* name : {"HODEI_SECRET_KEY", "HODEI_TOKEN", "DATABASE_URL"}) unsetenv(name);
  for (int round = 0; round < 2000 && process_state(what.record) == ProcessState::Running; ++round) pause_for(5ms);
  EXPECT_THAT(content("console.log"), HasSubstr("PATH="));
  EXPECT_THAT(content("console.log"), testing::Not(HasSubstr("canary")));
}

TEST_F(FirecrackerFiles, AnotherProcessWithTheSameNumberIsLeftAlone) {
  ASSERT_TRUE(start_recorded(launch({"/bin/sleep", "1000"})).ok());
  const std::string record = content("process");
  const int pid = running_pid(path("process"));
  // As if it had started at another time: the last of the numbers up to the start time is changed.
  std::string other = record;
  const size_t boot_end = other.find('\n') + 1;
  size_t at = other.rfind(')') + 2;
  for (int field = 3; field < 22; ++field) at = other.find(' ', at) + 1;
  other[at] = other[at] == '1' ? '2' : '1';
  write("process", other);
  EXPECT_EQ(running_pid(path("process")), -1);
  EXPECT_TRUE(end_process(path("process")).ok());
  // As if it were of an earlier start of the host.
  std::string earlier = record;
  earlier[0] = earlier[0] == 'a' ? 'b' : 'a';
  ASSERT_GT(boot_end, 30u);
  write("process", earlier);
  EXPECT_TRUE(end_process(path("process")).ok());
  write("process", record);
  EXPECT_EQ(running_pid(path("process")), pid);
  EXPECT_TRUE(end_process(path("process")).ok());
}

TEST_F(FirecrackerFiles, AProgramThatCannotRunIsAnErrorWithItsName) {
  const absl::Status started = start_recorded(launch({"/no/such/program"}));
  EXPECT_THAT(std::string(started.message()), HasSubstr("/no/such/program"));
  EXPECT_NE(process_state(path("process")), ProcessState::Running);
}

TEST_F(FirecrackerFiles, TheWordsAreForNobodyElseAndFillWholeSectors) {
  ASSERT_TRUE(write_settings_disk(path("settings"), {{"HODEI_TOKEN", "secret"}, {"A", "b c"}}).ok());
  const std::string bytes = content("settings");
  EXPECT_EQ(bytes.size() % 512, 0u);
  EXPECT_TRUE(bytes.starts_with(std::string("HODEIVM1\0A=b c\0HODEI_TOKEN=secret\0\0", 36)));
  struct stat info {};
  ASSERT_EQ(stat(path("settings").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_FALSE(write_settings_disk(path("settings"), {{"A", std::string(100'000, 'x')}}).ok());
}

TEST_F(FirecrackerFiles, TheInitramfsHoldsDriversAndWorkerAndIsMadeAnewForAnotherWorker) {
  write("vmlinux", "kernel");
  write("vmlinux.modules.cpio", "drivers!");
  write("worker", "first worker");
  const std::string first = initramfs_for(path("vmlinux"), path("worker"), folder_).value();
  EXPECT_EQ(initramfs_for(path("vmlinux"), path("worker"), folder_).value(), first);
  EXPECT_THAT(content(fs::path(first).filename()), testing::AllOf(HasSubstr("drivers!"), HasSubstr("first worker")));
  write("worker", "another worker");
  const std::string second = initramfs_for(path("vmlinux"), path("worker"), folder_).value();
  EXPECT_NE(first, second);
  EXPECT_FALSE(fs::exists(first));
  EXPECT_THAT(content(fs::path(second).filename()), HasSubstr("another worker"));
}

TEST_F(FirecrackerFiles, AMachineStartsUntilItsWorkerSaysSo) {
  const MachineFiles files(folder_);
  ASSERT_TRUE(files.make("w-1").ok());
  EXPECT_EQ(files.status("w-1").phase, WorkerPhase::Ended);
  Launch what = launch({"/bin/sleep", "1000"});
  what.record = record_of(files.folder_of("w-1"));
  ASSERT_TRUE(start_recorded(what).ok());
  EXPECT_EQ(files.status("w-1").phase, WorkerPhase::Starting);
  write("w-1/console.log", "kernel\r\nthe worker of this microVM starts\r\nlast output\r\n");
  EXPECT_EQ(files.status("w-1").phase, WorkerPhase::Running);
  ASSERT_TRUE(end_process(what.record).ok());
  const WorkerStatus ended = files.status("w-1");
  EXPECT_EQ(ended.phase, WorkerPhase::Ended);
  EXPECT_THAT(ended.reason, HasSubstr("last output"));
  EXPECT_EQ(files.log("w-1", 2), "the worker of this microVM starts\nlast output\n");
  EXPECT_EQ(files.log("w-1", 1), "last output\n");
  EXPECT_EQ(files.log("w-1", 0), "");
  EXPECT_EQ(files.log("w-1", 100), "kernel\nthe worker of this microVM starts\nlast output\n");
}

TEST_F(FirecrackerFiles, GuestAndMonitorAreQuotedApart) {
  write("console.log", "kernel boots\r\npanic: no init\r\n");
  write("firecracker.log",
        "2026 [a:main:INFO] Running Firecracker v1.16.0\n2026 [a:main:ERROR] Cannot create the VM: KVM is of no use\n"
        "2026 [a:main:ERROR] second error\n2026 [a:main:INFO] Firecracker exiting successfully. exit_code=0\n");
  EXPECT_EQ(
      last_output(folder_),
      "its console ends with: panic: no init; firecracker says: 2026 [a:main:ERROR] Cannot create the VM: KVM is of "
      "no use; 2026 [a:main:ERROR] second error");
  fs::remove(path("console.log"));
  write("firecracker.log", "Running\nFirecracker exiting successfully. exit_code=0\n");
  EXPECT_EQ(last_output(folder_), "firecracker says: Running");
}

TEST_F(FirecrackerFiles, ALogThatLeadsOutOfTheJailIsNotFollowed) {
  write("secret", "of the host");
  fs::create_directories(path("jail/firecracker/x/root"));
  fs::create_symlink(path("secret"), path("jail/firecracker/x/root/firecracker.log"));
  EXPECT_EQ(last_output(folder_), "");
}

// Firecracker has a handler for SIGXFSZ that ends it; this program does the same.
TEST_F(FirecrackerFiles, AFullConsoleDoesNotEndTheMachine) {
  const std::string keeper = path("keeper");
  write("keeper", "#!/bin/sh\nexec 3<&0\n(head -c 1000; cat > /dev/null) <&3 &\n");
  fs::permissions(keeper, fs::perms::owner_all);
  Launch what = launch({"/usr/bin/python3", "-c",
                        "import os, signal, time\nsignal.signal(signal.SIGXFSZ, lambda *_: os._exit(3))\n"
                        "os.write(1, b'x' * 1_000_000)\nos.write(1, b'y' * 1_000_000)\nopen('alive', 'w').close()\n"
                        "time.sleep(1000)"});
  what.largest_file = 4096;
  what.console_keeper = keeper;
  ASSERT_TRUE(start_recorded(what).ok());
  const SystemClock clock;
  const MonoTime end = clock.now().mono + 20s;
  while (!fs::exists(path("alive")) && clock.now().mono < end) pause_for(10ms);
  EXPECT_TRUE(fs::exists(path("alive")));
  EXPECT_EQ(process_state(what.record), ProcessState::Running);
  EXPECT_LE(content("console.log").size(), 1000u);
  ASSERT_TRUE(end_process(what.record).ok());
}

}  // namespace
}  // namespace hodei::providers::firecracker::files_test

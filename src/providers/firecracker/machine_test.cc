#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "nlohmann/json.hpp"
#include "src/providers/firecracker/firecracker_engine.h"
#include "src/providers/firecracker/qemu_engine.h"

namespace hodei::providers::firecracker::machine_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Machine a_machine() {
  return {.id = "w-1",
          .folder = "/f/w-1",
          .vcpus = 3,
          .memory_mb = 512,
          .kernel = "/k",
          .initramfs = "/i",
          .boot_arguments = "quiet HODEI_VM=1",
          .drives = {{"settings", "/f/w-1/settings", true},
                     {"root", "/with,comma.ext4", true},
                     {"scratch", "/f/w-1/scratch", false}},
          .tap = "hd0",
          .mac = "02:fc:00:00:00:01"};
}

TEST(FirecrackerCalls, ComeInTheDocumentedOrder) {
  std::vector<std::string> paths;
  for (const ApiCall& call : firecracker_calls(a_machine())) paths.push_back(call.path);
  EXPECT_THAT(paths, ElementsAre("/machine-config", "/boot-source", "/drives/settings", "/drives/root",
                                 "/drives/scratch", "/network-interfaces/eth0", "/actions"));
}

TEST(FirecrackerCalls, AskForOneVcpuOrAnEvenNumber) {
  for (const auto& [wanted, given] : {std::pair{1, 1}, {2, 2}, {3, 4}}) {
    Machine machine = a_machine();
    machine.vcpus = wanted;
    EXPECT_EQ(nlohmann::json::parse(firecracker_calls(machine)[0].body)["vcpu_count"], given);
  }
}

TEST(FirecrackerCalls, GiveFirecrackerALogOfItsOwnBeforeAnythingElse) {
  Machine machine = a_machine();
  machine.monitor_log = "/firecracker.log";
  const ApiCall first = firecracker_calls(machine)[0];
  EXPECT_EQ(first.path, "/logger");
  EXPECT_EQ(nlohmann::json::parse(first.body)["log_path"], "/firecracker.log");
}

TEST(JailerArguments, PutTheJailsOfAnInstallationIntoAGroupOfTheirOwn) {
  Machine machine = a_machine();
  machine.jail_parent = "hodei-01234567";
  const std::vector<std::string> all = jailer_arguments({.jailer = "/jailer"}, "/firecracker", machine);
  const auto at = std::find(all.begin(), all.end(), "--parent-cgroup");
  ASSERT_NE(at, all.end());
  EXPECT_EQ(*(at + 1), "hodei-01234567");
}

TEST(QemuArguments, HaveEveryDriveAndTheCard) {
  const std::vector<std::string> all = qemu_arguments({.program = "/qemu"}, a_machine());
  EXPECT_THAT(all, Contains("if=none,format=raw,id=root,readonly=on,file=/with,,comma.ext4"));
  EXPECT_THAT(all, Contains("if=none,format=raw,id=scratch,readonly=off,file=/f/w-1/scratch"));
  EXPECT_THAT(all, Contains(HasSubstr("ifname=hd0")));
  EXPECT_THAT(all, Contains("virtio-net-device,netdev=net0,mac=02:fc:00:00:00:01"));
  EXPECT_THAT(all, Contains("512M"));
}

TEST(QemuArguments, EmulateTheProcessorWhereKvmDoesNotWork) {
  EXPECT_THAT(qemu_arguments({.program = "/qemu", .kvm = false}, a_machine()), Contains("tcg"));
  EXPECT_THAT(qemu_arguments({.program = "/qemu", .kvm = true}, a_machine()), Contains("kvm"));
}

TEST(JailerArguments, EndWhereFirecrackersOwnBegin) {
  Machine machine = a_machine();
  machine.cpu_milli = 500;
  const std::vector<std::string> all =
      jailer_arguments({.jailer = "/jailer", .uid = 7, .gid = 8}, "/bin/firecracker", machine);
  EXPECT_EQ(all.front(), "/jailer");
  EXPECT_EQ(all.back(), "--");
  const auto value_of = [&all](const std::string& flag) { return *(std::find(all.begin(), all.end(), flag) + 1); };
  EXPECT_EQ(value_of("--id"), "w-1");
  EXPECT_EQ(value_of("--uid"), "7");
  EXPECT_EQ(value_of("--gid"), "8");
  EXPECT_EQ(value_of("--chroot-base-dir"), "/f/w-1/jail");
  EXPECT_THAT(all, Contains(HasSubstr("50000")));
}

TEST(Jail, GivesALongWorkerIdAShortOneOfItsOwn) {
  const std::string one = jail_id(std::string(100, 'a')), other = jail_id(std::string(99, 'a') + "b");
  EXPECT_LE(one.size(), 64u);
  EXPECT_NE(one, other);
  EXPECT_EQ(jail_id("w-1"), "w-1");
}

}  // namespace
}  // namespace hodei::providers::firecracker::machine_test

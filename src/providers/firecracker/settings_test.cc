#include "src/providers/firecracker/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace hodei::providers::firecracker::settings_test {
namespace {

using testing::HasSubstr;

absl::StatusOr<Settings> read(StringMap options) {
  return read_settings({.name = "fc", .type = "firecracker", .options = std::move(options)},
                       {.id = "i", .folder = "/f"});
}

std::string refusal(StringMap options) {
  const absl::StatusOr<Settings> settings = read(std::move(options));
  EXPECT_EQ(settings.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(settings.status().message());
}

TEST(FirecrackerSettings, NeedNoOption) {
  const Settings settings = read({}).value();
  EXPECT_EQ(settings.kernel, "/var/lib/hodei/vmlinux");
  EXPECT_EQ(settings.images, "/var/lib/hodei/images");
  EXPECT_EQ(settings.network.prefix, 24);
  EXPECT_THAT(settings.network.host(), testing::StartsWith("172.31."));
  EXPECT_GE(settings.max_workers, 1u);
}

TEST(FirecrackerSettings, RefuseAnOptionThatIsNotThereAndNameThoseThatAre) {
  EXPECT_THAT(refusal({{"kernal", "/k"}}), HasSubstr("options.kernal"));
  EXPECT_THAT(refusal({{"kernal", "/k"}}), HasSubstr("kernel"));
}

TEST(FirecrackerSettings, RefuseValuesByTheOptionsName) {
  EXPECT_THAT(refusal({{"engine", "xen"}}), HasSubstr("engine: 'xen' is not one of auto, firecracker, qemu"));
  EXPECT_THAT(refusal({{"jailer", "perhaps"}}), HasSubstr("jailer"));
  EXPECT_THAT(refusal({{"kernel", "vmlinux"}}), HasSubstr("kernel: 'vmlinux' is not an absolute path"));
  EXPECT_THAT(refusal({{"memory_mb", "12"}}), HasSubstr("memory_mb"));
  EXPECT_THAT(refusal({{"network", "10.0.0.0/8"}}), HasSubstr("network"));
  EXPECT_THAT(refusal({{"network", "10.0.0.0"}}), HasSubstr("network"));
  EXPECT_THAT(refusal({{"uid", "0"}}), HasSubstr("uid"));
}

TEST(FirecrackerSettings, RefuseMoreMachinesThanAddresses) {
  EXPECT_THAT(refusal({{"network", "10.9.8.0/29"}, {"max_workers", "6"}}), HasSubstr("max_workers"));
  EXPECT_TRUE(read({{"network", "10.9.8.0/29"}, {"max_workers", "5"}}).ok());
}

TEST(FirecrackerSettings, TakeTheEnvironmentWhereNoOptionIsGiven) {
  setenv("HODEI_FC_ENGINE", "qemu", 1);
  EXPECT_EQ(read({}).value().engine, EngineChoice::Qemu);
  EXPECT_EQ(read({{"engine", "firecracker"}}).value().engine, EngineChoice::Firecracker);
  setenv("HODEI_FC_ENGINE", "nothing", 1);
  EXPECT_THAT(refusal({}), HasSubstr("HODEI_FC_ENGINE"));
  unsetenv("HODEI_FC_ENGINE");
}

TEST(FirecrackerSettings, AnImageIsAFileWhateverItsName) {
  const Settings settings = read({{"images", "/images"}}).value();
  EXPECT_EQ(image_file(settings, "library/debian:12"), "/images/library_debian_12.ext4");
  EXPECT_EQ(image_file(settings, "../../etc/passwd"), "/images/.._.._etc_passwd.ext4");
}

TEST(AddressRange, HasTheHostFirstAndNoneForNetAndBroadcast) {
  const AddressRange range = parse_range("10.9.8.77/29").value();
  EXPECT_EQ(range.host(), "10.9.8.73");
  EXPECT_EQ(range.guests(), 5u);
  EXPECT_EQ(range.guest(0), "10.9.8.74");
  EXPECT_EQ(range.guest(range.guests() - 1), "10.9.8.78");
}

TEST(AddressRange, GuestsReachAServerOnTheHostByTheHostsAddress) {
  const AddressRange range = parse_range("10.9.8.0/24").value();
  EXPECT_EQ(as_seen_by_guest("127.0.0.1:50051", range), "10.9.8.1:50051");
  EXPECT_EQ(as_seen_by_guest("http://localhost:1,0.0.0.0:2,[::1]:3", range), "http://10.9.8.1:1,10.9.8.1:2,10.9.8.1:3");
  EXPECT_EQ(as_seen_by_guest("server.example:50051", range), "server.example:50051");
}

}  // namespace
}  // namespace hodei::providers::firecracker::settings_test

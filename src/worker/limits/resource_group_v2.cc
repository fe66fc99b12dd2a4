// Limits and figures from cgroup version 2: the files are in the enclosure's own folder.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "src/base/status.h"
#include "src/worker/limits/resource_group.h"
#include "src/worker/system/fd.h"
#include "src/worker/system/small_files.h"

namespace hodei::worker {
namespace {

constexpr int64_t kCpuMaxPeriodUs = 100'000;
constexpr int64_t kSmallestCpuMaxUs = 1000;  // the kernel's
constexpr int64_t kDefaultIoWeight = 100;

// The sum of the values of one key over all devices, in lines such as "254:0 rbytes=4096 wbytes=0 rios=1 …".
int64_t sum_of(std::string_view word, std::string_view text) {
  int64_t sum = 0;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at)) {
    at += word.size();
    sum += std::strtoll(std::string(text.substr(at, 20)).c_str(), nullptr, 10);
  }
  return sum;
}

class MeterV2 final : public UsageMeter {
 public:
  // `peak`: memory.peak, opened by the code that reset it before this execution.
  MeterV2(std::string folder, std::shared_ptr<const Fd> peak) : folder_(std::move(folder)), peak_(std::move(peak)) {
    begin();
  }

 private:
  Measured counted() const override {
    Measured now;
    now.usage.cpu_ms = number_after("usage_usec", read_file(folder_ + "/cpu.stat")) / 1000;
    now.oom_kills = number_after("oom_kill", read_file(folder_ + "/memory.events"));
    const std::string io = read_file(folder_ + "/io.stat");
    now.usage.io_read_bytes = sum_of(" rbytes=", io);
    now.usage.io_write_bytes = sum_of(" wbytes=", io);
    return now;
  }
  void add_memory(Measured& now) const override {
    now.memory_now_kb = number_in(folder_ + "/memory.current").value_or(0) / 1024;
    char peak[32] = {};
    if (pread(peak_->get(), peak, sizeof(peak) - 1, 0) > 0) {
      now.usage.max_memory_kb = std::strtoll(peak, nullptr, 10) / 1024;
    }
  }

  std::string folder_;
  std::shared_ptr<const Fd> peak_;
};

class GroupV2 final : public ResourceGroup {
 public:
  GroupV2(std::string folder, std::set<std::string> controllers)
      : folder_(std::move(folder)),
        controllers_(std::move(controllers)),
        peak_(std::make_shared<const Fd>(open((folder_ + "/memory.peak").c_str(), O_RDWR | O_CLOEXEC))) {}

  absl::Status begin(const ProgramLimits& limits) override {
    if (limits.cpu_milli != written_.cpu_milli) RETURN_IF_ERROR(limit_cpu(limits.cpu_milli));
    if (limits.memory_bytes != written_.memory_bytes) RETURN_IF_ERROR(limit_memory(limits.memory_bytes));
    if (limits.io_weight != written_.io_weight) RETURN_IF_ERROR(weigh_io(limits.io_weight));
    written_ = limits;
    meter_ = std::make_shared<MeterV2>(folder_, peak_);
    return absl::OkStatus();
  }
  std::shared_ptr<const UsageMeter> meter() const override { return meter_; }
  // Since Linux 6.12 the peak can be forgotten, for the descriptor that asks.
  bool is_spent() const override { return peak_->is_open() && write(peak_->get(), "reset", 5) != 5; }

 private:
  absl::Status limit_cpu(int64_t milli) {
    if (!controllers_.contains("cpu")) return absl::OkStatus();
    const std::string quota =
        milli > 0 ? std::to_string(std::max(milli * kCpuMaxPeriodUs / 1000, kSmallestCpuMaxUs)) : std::string("max");
    return set("/cpu.max", cat(quota, " ", kCpuMaxPeriodUs));
  }
  // All of its processes end together: a job that lost one to the OOM killer is of no use.
  absl::Status limit_memory(int64_t bytes) {
    if (!controllers_.contains("memory")) return absl::OkStatus();
    RETURN_IF_ERROR(set("/memory.max", bytes > 0 ? std::to_string(bytes) : std::string("max")));
    RETURN_IF_ERROR(set("/memory.oom.group", bytes > 0 ? "1" : "0"));
    if (access((folder_ + "/memory.swap.max").c_str(), W_OK) != 0) return absl::OkStatus();
    return set("/memory.swap.max", bytes > 0 ? "0" : "max");
  }
  absl::Status weigh_io(int64_t weight) {
    if (!controllers_.contains("io")) return absl::OkStatus();
    for (const char* name : {"/io.bfq.weight", "/io.weight"}) {
      if (access((folder_ + name).c_str(), W_OK) != 0) continue;
      return set(name, cat("default ", weight > 0 ? weight : kDefaultIoWeight));
    }
    return absl::OkStatus();
  }
  absl::Status set(const std::string& name, const std::string& text) {
    if (write_file(folder_ + name, text)) return absl::OkStatus();
    return absl::ErrnoToStatus(errno, cat("writing ", text, " to ", folder_, name));
  }

  std::string folder_;
  std::set<std::string> controllers_;
  std::shared_ptr<const Fd> peak_;
  ProgramLimits written_;
  std::shared_ptr<const UsageMeter> meter_;
};

class GroupsV2 final : public ResourceGroups {
 public:
  explicit GroupsV2(std::set<std::string> controllers) : controllers_(std::move(controllers)) {}

  std::unique_ptr<ResourceGroup> make(const Enclosure& enclosure) override {
    return std::make_unique<GroupV2>(enclosure.cgroup(), controllers_);
  }
  std::string describe() const override {
    std::string names;
    for (const std::string& controller : controllers_) names += cat(names.empty() ? "" : ", ", controller);
    return cat("cgroup v2 (", names, ")");
  }
  bool limits_cpu() const override { return controllers_.contains("cpu"); }
  bool limits_memory() const override { return controllers_.contains("memory"); }
  bool weighs_io() const override { return controllers_.contains("io"); }

 private:
  const std::set<std::string> controllers_;
};

}  // namespace

std::unique_ptr<ResourceGroups> make_resource_groups_v2(const Enclosures& enclosures) {
  std::set<std::string> controllers = enclosures.controllers();
  if (!controllers.contains("cpu") && !controllers.contains("memory")) return nullptr;
  return std::make_unique<GroupsV2>(std::move(controllers));
}

}  // namespace hodei::worker

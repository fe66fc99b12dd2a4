// Limits and figures from the hierarchies of cgroup version 1: one folder in each that is needed and there. To enter
// one costs a start a fiftieth, so the one that weighs I/O is entered only by those that ask for it, and cpu time is
// read from the enclosure where that counts it anyway.
//
// A process enters by writing to `tasks`, not to `cgroup.procs`: moving a single thread takes no lock that all forks of
// the machine wait for.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <thread>

#include "src/base/status.h"
#include "src/worker/limits/resource_group.h"
#include "src/worker/system/fd.h"
#include "src/worker/system/small_files.h"

namespace hodei::worker {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kPeriodUs = 100'000;
constexpr int64_t kSmallestQuotaUs = 1000;  // the kernel's
constexpr int64_t kUsualWeight = 100;
constexpr unsigned kUsualShares = 1024;     // of cpu time, of a process or a group
constexpr int64_t kMuchLeftOver = 1 << 20;  // page cache of the last execution, charged to its group

// The hierarchies that this machine has and lets us use, with the folder of this worker in each.
using Hierarchies = std::map<std::string, std::string>;

std::string weight_file(const std::string& blkio) {
  for (const char* name : {"/blkio.bfq.weight", "/blkio.weight"}) {
    if (access((blkio + name).c_str(), W_OK) == 0) return blkio + name;
  }
  return {};
}

// Those that are still in use stay.
void remove_folders_in(const std::string& folder) {
  std::error_code ignored;
  for (fs::directory_iterator it(folder, ignored), end; !ignored && it != end; it.increment(ignored)) {
    if (it->is_directory(ignored)) rmdir(it->path().c_str());
  }
}

// The files with the figures of one group, opened once: opening them anew for every execution costs as much as moving a
// process into the group.
struct Figures {
  Figures(const Hierarchies& folders, const std::string& cpu_stat)
      : cpu(path(folders, "cpuacct", "/cpuacct.usage"), O_RDONLY),
        cpu_of_enclosure(cpu_stat, O_RDONLY),
        memory_peak(path(folders, "memory", "/memory.max_usage_in_bytes"), O_RDWR),
        memory_now(path(folders, "memory", "/memory.usage_in_bytes"), O_RDONLY),
        oom(path(folders, "memory", "/memory.oom_control"), O_RDONLY),
        io(path(folders, "blkio", "/blkio.throttle.io_service_bytes"), O_RDONLY) {}

  static std::string path(const Hierarchies& folders, const std::string& hierarchy, const char* name) {
    const auto it = folders.find(hierarchy);
    return it == folders.end() ? std::string() : it->second + name;
  }

  int64_t cpu_ms() const {
    if (const std::optional<int64_t> ns = cpu.number()) return *ns / 1'000'000;
    return number_after("usage_usec", cpu_of_enclosure.text()) / 1000;
  }

  KernelFile cpu, cpu_of_enclosure, memory_peak, memory_now, oom, io;
};

// Lines such as "254:0 Read 4096", for each device.
void add_io(const std::string& text, Usage& usage) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    usage.io_read_bytes += number_after("Read", line.substr(space + 1));
    usage.io_write_bytes += number_after("Write", line.substr(space + 1));
  }
}

class MeterV1 final : public UsageMeter {
 public:
  MeterV1(std::shared_ptr<const Figures> figures, bool counts_io)
      : figures_(std::move(figures)), counts_io_(counts_io) {
    begin();
  }

 private:
  Measured counted() const override {
    Measured now{.counts_io = counts_io_};
    now.usage.cpu_ms = figures_->cpu_ms();
    now.oom_kills = number_after("oom_kill", figures_->oom.text());
    if (counts_io_) add_io(figures_->io.text(), now.usage);
    return now;
  }
  void add_memory(Measured& now) const override {
    now.usage.max_memory_kb = figures_->memory_peak.number().value_or(0) / 1024;
    now.memory_now_kb = figures_->memory_now.number().value_or(0) / 1024;
  }

  std::shared_ptr<const Figures> figures_;
  const bool counts_io_;
};

class GroupV1 final : public ResourceGroup {
 public:
  GroupV1(Hierarchies folders, std::string cpu_stat) : folders_(std::move(folders)), cpu_stat_(std::move(cpu_stat)) {}
  ~GroupV1() override {
    for (const auto& [hierarchy, folder] : folders_) rmdir(folder.c_str());
  }

  absl::Status begin(const ProgramLimits& limits) override {
    RETURN_IF_ERROR(make_folders(limits.io_weight > 0));
    if (limits.cpu_milli != written_.cpu_milli) RETURN_IF_ERROR(limit_cpu(limits.cpu_milli));
    if (limits.memory_bytes != written_.memory_bytes) RETURN_IF_ERROR(limit_memory(limits.memory_bytes));
    if (limits.io_weight != written_.io_weight) RETURN_IF_ERROR(weigh_io(limits.io_weight));
    written_ = limits;
    figures_->memory_peak.write("0");
    meter_ = std::make_shared<MeterV1>(figures_, limits.io_weight > 0 && tasks_.contains("blkio"));
    return absl::OkStatus();
  }
  std::vector<int> join_files() const override {
    std::vector<int> files;
    for (const auto& [hierarchy, fd] : tasks_) {
      if (hierarchy != "blkio" || written_.io_weight > 0) files.push_back(fd.get());
    }
    return files;
  }
  std::shared_ptr<const UsageMeter> meter() const override { return meter_; }
  bool is_spent() const override { return figures_ && figures_->memory_now.number().value_or(0) > kMuchLeftOver; }

 private:
  absl::Status make_folders(bool weighs_io) {
    bool made = false;
    for (const auto& [hierarchy, folder] : folders_) {
      if (tasks_.contains(hierarchy) || (hierarchy == "blkio" && !weighs_io)) continue;
      if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) return absl::ErrnoToStatus(errno, "mkdir " + folder);
      Fd tasks(open((folder + "/tasks").c_str(), O_WRONLY | O_CLOEXEC));
      if (!tasks.is_open()) return absl::ErrnoToStatus(errno, "opening the tasks of " + folder);
      tasks_[hierarchy] = std::move(tasks);
      made = true;
    }
    if (made) figures_ = std::make_shared<const Figures>(folders_, cpu_stat_);
    return absl::OkStatus();
  }
  absl::Status limit_cpu(int64_t milli) {
    const auto cpu = folders_.find("cpu");
    if (cpu == folders_.end()) return absl::OkStatus();
    const int64_t quota = milli > 0 ? std::max(milli * kPeriodUs / 1000, kSmallestQuotaUs) : -1;
    write_file(cpu->second + "/cpu.cfs_period_us", std::to_string(kPeriodUs));
    return set(cpu->second + "/cpu.cfs_quota_us", quota);
  }
  // Memory, and memory with swap, which may never be the smaller of the two: the order depends on what was there
  // before.
  absl::Status limit_memory(int64_t bytes) {
    const auto memory = folders_.find("memory");
    if (memory == folders_.end()) return absl::OkStatus();
    const std::string limit = memory->second + "/memory.limit_in_bytes";
    const std::string with_swap = memory->second + "/memory.memsw.limit_in_bytes";
    const int64_t value = bytes > 0 ? bytes : -1;
    if (access(with_swap.c_str(), W_OK) != 0) return set(limit, value);
    if (set(limit, value).ok()) return set(with_swap, value);
    RETURN_IF_ERROR(set(with_swap, value));
    return set(limit, value);
  }
  absl::Status weigh_io(int64_t weight) {
    const auto blkio = folders_.find("blkio");
    const std::string file = blkio == folders_.end() ? std::string() : weight_file(blkio->second);
    if (file.empty()) return absl::OkStatus();
    constexpr int64_t kSmallest = 10;  // of the older of the two files
    const int64_t value = weight > 0 ? weight : kUsualWeight;
    return set(file, file.ends_with("bfq.weight") ? value : std::max(value, kSmallest));
  }
  static absl::Status set(const std::string& file, int64_t value) {
    if (write_file(file, std::to_string(value))) return absl::OkStatus();
    return absl::ErrnoToStatus(errno, cat("writing ", value, " to ", file));
  }

  Hierarchies folders_;
  std::string cpu_stat_;                    // counts cpu time where there is no hierarchy for it; may be empty
  std::map<std::string, Fd> tasks_;         // of the folders that are there
  std::shared_ptr<const Figures> figures_;  // once the folders are there
  ProgramLimits written_;
  std::shared_ptr<const UsageMeter> meter_;
};

class GroupsV1 final : public ResourceGroups {
 public:
  explicit GroupsV1(Hierarchies own) : own_(std::move(own)) {}

  std::unique_ptr<ResourceGroup> make(const Enclosure& enclosure) override {
    Hierarchies folders;
    for (const auto& [hierarchy, folder] : own_) folders[hierarchy] = cat(folder, "/", next_);
    ++next_;
    std::string cpu_stat = enclosure.cgroup().empty() ? std::string() : enclosure.cgroup() + "/cpu.stat";
    // The enclosure is of version 2, which counts in every group.
    if (access(cpu_stat.c_str(), R_OK) == 0) folders.erase("cpuacct");
    return std::make_unique<GroupV1>(std::move(folders), std::move(cpu_stat));
  }
  std::string describe() const override {
    std::string names;
    for (const auto& [hierarchy, folder] : own_) names += cat(names.empty() ? "" : ", ", hierarchy);
    return cat("cgroup v1 (", names, ")");
  }
  bool limits_cpu() const override { return own_.contains("cpu"); }
  bool limits_memory() const override { return own_.contains("memory"); }
  bool weighs_io() const override { return own_.contains("blkio") && !weight_file(own_.at("blkio")).empty(); }
  void remove_all() override {
    for (const auto& [hierarchy, folder] : own_) {
      remove_folders_in(folder);
      rmdir(folder.c_str());
    }
  }

 private:
  Hierarchies own_;
  int next_ = 0;
};

}  // namespace

std::unique_ptr<ResourceGroups> make_resource_groups_v1(const EnclosureOptions& options) {
  Hierarchies own;
  for (const char* hierarchy : {"cpu", "cpuacct", "memory", "blkio"}) {
    const std::string root = cat(options.cgroup_root, "/", hierarchy);
    if (access((root + "/tasks").c_str(), W_OK) != 0) continue;  // not mounted
    const std::string folder = cat(root, "/hodei/", options.mark);
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed || access((folder + "/tasks").c_str(), W_OK) != 0) continue;
    remove_folders_in(folder);  // what an earlier supervisor left
    // All jobs with limits together would else weigh as much as one process of the machine.
    const std::string weight = std::to_string(kUsualShares * std::max(1u, std::thread::hardware_concurrency()));
    for (const std::string& each : {root + "/hodei", folder}) write_file(each + "/cpu.shares", weight);
    own[hierarchy] = folder;
  }
  return own.empty() ? nullptr : std::make_unique<GroupsV1>(std::move(own));
}

}  // namespace hodei::worker

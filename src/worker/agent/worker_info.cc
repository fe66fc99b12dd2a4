#include "src/worker/agent/worker_info.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "src/base/clip.h"
#include "src/base/sizes.h"
#include "src/base/text.h"
#include "src/worker/system/small_files.h"

namespace hodei::worker {
namespace {

constexpr const char* kVersion = "0.1.0";
constexpr size_t kMaxReason = 400;

std::string reason_in(const std::string& file) {
  const std::string text = read_file(file);
  const std::string line(clip(text.substr(0, text.find('\n')), kMaxReason));
  return line.empty() ? cat("taken out of service by the file ", file) : line;
}

std::string first_address() {
  ifaddrs* list = nullptr;
  std::string found = "127.0.0.1";
  if (getifaddrs(&list) != 0) return found;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET || (each->ifa_flags & IFF_LOOPBACK) != 0)
      continue;
    char text[INET_ADDRSTRLEN];
    const auto* address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
    if (inet_ntop(AF_INET, &address->sin_addr, text, sizeof(text)) != nullptr) found = text;
    break;
  }
  freeifaddrs(list);
  return found;
}

v1::Taint::Effect effect(const std::string& word) {
  v1::Taint::Effect value = v1::Taint::NoSchedule;
  v1::Taint::Effect_Parse(word, &value);
  return value;
}

v1::Constraints::Isolation isolation(const std::string& word) {
  v1::Constraints::Isolation value = v1::Constraints::process;
  v1::Constraints::Isolation_Parse(word, &value);
  return value;
}

constexpr int64_t kSector = 512;  // of /proc/diskstats, whatever the disk

void add_network(MachineLoad& load) {
  std::ifstream devices("/proc/net/dev");
  std::string line;
  while (std::getline(devices, line)) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;  // the two lines of the heading
    std::istringstream name(line.substr(0, colon)), figures(line.substr(colon + 1));
    std::string device;
    int64_t fields[9] = {};  // the first is received bytes, the ninth sent ones
    name >> device;
    for (int64_t& field : fields) figures >> field;
    if (device == "lo") continue;
    load.network_rx_bytes += fields[0];
    load.network_tx_bytes += fields[8];
  }
}

// Partitions and what is built from other disks would be counted twice.
bool is_whole_disk(const std::string& name) {
  for (const char* made_up : {"loop", "ram", "zram", "dm-", "md"}) {
    if (name.starts_with(made_up)) return false;
  }
  return access(cat("/sys/block/", name).c_str(), F_OK) == 0;
}

void add_disks(MachineLoad& load) {
  std::ifstream disks("/proc/diskstats");
  std::string line;
  while (std::getline(disks, line)) {
    std::istringstream words(line);
    int64_t major = 0, minor = 0, fields[7] = {};  // reads, merged, sectors read, ms, writes, merged, sectors written
    std::string name;
    words >> major >> minor >> name;
    for (int64_t& field : fields) words >> field;
    if (!is_whole_disk(name)) continue;
    load.disk_read_bytes += fields[2] * kSector;
    load.disk_write_bytes += fields[6] * kSector;
  }
}

void add_capacity(const WorkerOptions& options, v1::WorkerInfo& info) {
  const unsigned cpus = std::max(1u, std::thread::hardware_concurrency());
  v1::Capacity& capacity = *info.mutable_capacity();
  capacity.set_cpu_milli(options.cpu_milli > 0 ? options.cpu_milli : int64_t{cpus} * 1000);
  capacity.set_cpu_cores(static_cast<double>(capacity.cpu_milli()) / 1000);  // what older servers read
  const int64_t machine_mb = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) >> 20;
  capacity.set_memory_mb(options.memory_mb > 0 ? options.memory_mb : machine_mb);
  capacity.set_gpus(static_cast<int32_t>(options.gpus));
  struct statvfs disk {};
  if (statvfs(options.state_dir.c_str(), &disk) == 0) {
    capacity.set_storage_mb(static_cast<int64_t>(disk.f_bavail * disk.f_frsize >> 20));
  }
  info.set_slots(static_cast<int32_t>(slots_of(options)));
}

}  // namespace

v1::WorkerInfo worker_info(const WorkerOptions& options) {
  v1::WorkerInfo info;
  utsname system{};
  uname(&system);
  info.set_id(options.worker_id);
  info.set_name(options.name.empty() ? system.nodename : options.name);
  info.set_version(kVersion);
  info.set_hostname(system.nodename);
  info.set_ip(first_address());
  info.set_os(system.sysname);
  info.set_architecture(system.machine);
  add_capacity(options, info);
  info.add_capabilities("shell");
  info.add_capabilities("script");
  info.add_capabilities("stdin");
  for (const std::string& capability : options.capabilities) {
    const bool is_there = capability == "shell" || capability == "script" || capability == "stdin";
    if (!is_there) info.add_capabilities(capability);
  }
  info.mutable_labels()->insert(options.labels.begin(), options.labels.end());
  if (!options.pool.empty()) (*info.mutable_labels())["pool"] = options.pool;
  for (const TaintOption& taint : options.taints) {
    v1::Taint& out = *info.add_taints();
    out.set_key(taint.key);
    out.set_value(taint.value);
    out.set_effect(effect(taint.effect));
  }
  info.set_provider(options.provider);
  info.set_isolation(isolation(options.isolation));
  info.set_image(options.image);
  for (const std::string& lack : options.lacks) info.add_lacks(lack);
  return info;
}

MachineLoad LoadMeter::read() {
  MachineLoad load;
  std::ifstream stat("/proc/stat");
  std::string word;
  uint64_t fields[8] = {};
  stat >> word;
  for (uint64_t& field : fields) stat >> field;
  uint64_t total = 0;
  for (const uint64_t field : fields) total += field;
  const uint64_t busy = total - fields[3] - fields[4];  // idle and waiting for disk
  if (total > total_ && total_ > 0) load.cpu = static_cast<double>(busy - busy_) / static_cast<double>(total - total_);
  busy_ = busy;
  total_ = total;

  std::ifstream meminfo("/proc/meminfo");
  int64_t kb = 0, all = 0, available = 0;
  while (meminfo >> word >> kb) {
    if (word == "MemTotal:") all = kb;
    if (word == "MemAvailable:") available = kb;
    meminfo.ignore(64, '\n');
  }
  load.memory_used_mb = (all - available) / 1024;
  add_network(load);
  add_disks(load);
  return load;
}

std::string status_of(const std::string& state_dir) {
  const std::string mark = cat(state_dir, "/", kUnfitFile);
  struct stat found {};
  if (stat(mark.c_str(), &found) == 0) return reason_in(mark);
  if (access(state_dir.c_str(), W_OK) != 0) {
    return cat("the state folder ", state_dir, " cannot be written: ", std::strerror(errno));
  }
  struct statvfs disk {};
  if (statvfs(state_dir.c_str(), &disk) != 0) return "ok";  // nothing is known, and that is no trouble
  const int64_t left = static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
  if (left < kLeastFreeDisk) {
    return cat("the disk of the state folder ", state_dir, " is nearly full: ", size_text(left), " left");
  }
  if (disk.f_files > 0 && disk.f_favail == 0)
    return cat("the disk of the state folder ", state_dir, " has no inodes left");
  return "ok";
}

}  // namespace hodei::worker

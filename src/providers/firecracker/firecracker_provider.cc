#include "src/providers/firecracker/firecracker_provider.h"

#include <unistd.h>

#include <filesystem>

#include "src/base/hash.h"
#include "src/base/sizes.h"
#include "src/base/status.h"
#include "src/providers/firecracker/boot_files.h"
#include "src/providers/firecracker/engine_choice.h"
#include "src/providers/firecracker/jail.h"
#include "src/providers/firecracker/leases.h"
#include "src/providers/firecracker/machine_files.h"
#include "src/providers/firecracker/machine_watch.h"
#include "src/providers/firecracker/settings.h"
#include "src/providers/firecracker/tap.h"
#include "src/providers/firecracker/turns.h"
#include "src/providers/firecracker/vm_process.h"
#include "src/providers/installation_mark.h"
#include "src/providers/worker_environment.h"

namespace hodei::providers {
namespace firecracker {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kOwnMemoryMb = 160;  // of kernel and worker, besides what jobs are promised
constexpr int64_t kLeastUsualMb = 64;
constexpr int kMostVcpus = 32;
constexpr int kMostAddressTries = 16;
constexpr Duration kLongestBoot = 300s;
constexpr const char* kBuilder = "scripts/firecracker/build-rootfs";
constexpr const char* kWorkerPortDevice = "-door";  // the end of its name

int64_t host_memory_mb() { return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE) >> 20; }
int host_cpus() { return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))); }

std::string machine_address(const std::string& address) {
  unsigned part[4] = {};
  sscanf(address.c_str(), "%u.%u.%u.%u", &part[0], &part[1], &part[2], &part[3]);
  return fmt::format("02:fc:{:02x}:{:02x}:{:02x}:{:02x}", part[0], part[1], part[2], part[3]);
}

class FirecrackerProvider final : public Provider {
 public:
  FirecrackerProvider(ProviderConfig config, Installation installation, Settings settings)
      : config_(std::move(config)),
        installation_(std::move(installation)),
        settings_(std::move(settings)),
        files_(cat(installation_.folder, "/", config_.name)),
        leases_(cat(files_.folder(), "/.leases"), settings_.network,
                [this](const std::string& w) { return files_.has(w); }),
        jail_parent_(cat("hodei-", installation_mark(installation_.id))),
        engines_(settings_, files_.folder(), installation_.worker_binary, jail_parent_),
        devices_(fmt::format("hd{:06x}", hash64(cat(installation_.id, "/", config_.name)) & 0xffffff)),
        watch_(files_) {}

  Capabilities capabilities() const override {
    return {.max_cpu_milli = std::min(host_cpus(), kMostVcpus) * int64_t{1000},
            .max_memory_mb = std::max<int64_t>(0, host_memory_mb() - kOwnMemoryMb),
            .usual_cpu_milli = std::min<int64_t>(settings_.cpus, host_cpus()) * 1000,
            .usual_memory_mb = std::max(kLeastUsualMb, settings_.memory_mb - kOwnMemoryMb),
            .gpu = false,
            .images = true,  // one that is not there is refused with the command that makes it
            .architectures = {"x86_64"},
            .max_workers = settings_.max_workers,
            .isolation = Isolation::Hardware};
  }

  absl::StatusOr<WorkerHandle> create_worker(const WorkerSpec& spec) override;
  absl::StatusOr<WorkerStatus> worker_status(const WorkerHandle& handle) override;
  absl::Status destroy_worker(const WorkerHandle& handle) override;

  absl::StatusOr<std::string> worker_logs(const WorkerHandle& handle, size_t tail) override {
    if (!files_.has(handle.worker_id)) return absl::NotFoundError(cat("there is no microVM for ", handle.worker_id));
    return files_.log(handle.worker_id, tail);
  }

  absl::StatusOr<std::vector<OwnedWorker>> list_workers() override;
  Health health_check() override;

  Duration estimated_startup_time() const override {
    const Engine* engine = engines_.chosen();
    return engine == nullptr ? Duration(300ms) : engine->startup_time();
  }

  absl::StatusOr<std::vector<std::string>> worker_port_addresses() override;

  void watch(Changed changed) override { watch_.start(std::move(changed)); }
  void unwatch() override { watch_.stop(); }

 private:
  absl::Status ready() const;
  absl::Status suits(const WorkerSpec& spec) const;
  absl::StatusOr<std::string> root_for(const WorkerSpec& spec) const;
  absl::Status make_room(const std::string& worker);
  absl::StatusOr<std::string> connect(const std::string& worker);
  absl::Status boot(Engine& engine, const WorkerSpec& spec, const std::string& root);
  absl::Status remove_all(const std::string& worker);
  bool boots_too_long(const std::string& worker) const;
  WorkerStatus end_boot(const std::string& worker);

  // Carries the mark of provider and installation, then the worker's: 15 characters, as many as there can be.
  std::string device_of(const std::string& worker) const {
    return fmt::format("{}{:07x}", devices_, hash64(worker) & 0xfffffff);
  }
  WorkerHandle handle_of(const std::string& worker) const { return {.worker_id = worker, .id = device_of(worker)}; }

  ProviderConfig config_;
  Installation installation_;
  Settings settings_;
  MachineFiles files_;
  Leases leases_;
  std::string jail_parent_;  // the control group of our jails: two installations must not meet there
  mutable EngineChooser engines_;
  std::string devices_;  // how the names of our network devices begin
  Turns turns_;
  std::mutex room_;  // held while a machine takes a place or an address
  std::mutex worker_port_mutex_;
  Fd worker_port_;
  MachineWatch watch_;
};

absl::Status FirecrackerProvider::ready() const {
  const auto readable = [](const std::string& path) { return access(path.c_str(), R_OK) == 0; };
  if (!readable(settings_.kernel)) {
    return absl::FailedPreconditionError(cat("kernel: cannot read ", settings_.kernel, "; create it with ", kBuilder,
                                             ", or set another with the option kernel or HODEI_FC_KERNEL_PATH"));
  }
  if (settings_.rootfs_was_chosen && !readable(settings_.rootfs)) {
    return absl::FailedPreconditionError(cat("rootfs: cannot read ", settings_.rootfs, "; create it with ", kBuilder));
  }
  if (installation_.worker_binary.empty() || !readable(installation_.worker_binary)) {
    return absl::FailedPreconditionError(
        "there is no static hodei-worker next to this program: microVMs run it as their init");
  }
  if (access("/dev/net/tun", R_OK | W_OK) != 0) {
    return absl::FailedPreconditionError(
        "network: cannot use /dev/net/tun: load the kernel module tun, and run the server as root or with "
        "CAP_NET_ADMIN");
  }
  return absl::OkStatus();
}

Health FirecrackerProvider::health_check() {
  std::error_code none;
  fs::create_directories(files_.folder(), none);
  absl::Status good = ready();
  if (good.ok()) good = engines_.get().status();
  if (!good.ok()) return {.state = HealthState::Unhealthy, .reason = std::string(good.message())};
  if (engines_.is_provisional()) {
    return {.state = HealthState::Healthy,
            .reason =
                cat("microVMs are booted by ", engines_.chosen()->name(), " until it is known whether KVM works here")};
  }
  const std::string why_not = engines_.why_not_firecracker();
  return {.state = HealthState::Healthy,
          .reason = cat("microVMs are booted by ", engines_.chosen()->name(),
                        why_not.empty() ? "" : "; not by firecracker: ", why_not)};
}

absl::Status FirecrackerProvider::suits(const WorkerSpec& spec) const {
  if (!is_worker_id(spec.worker_id))
    return bad_field("worker_id", "'", spec.worker_id, "' must contain only a-z, 0-9 and dashes");
  if (spec.gpus > 0) return absl::FailedPreconditionError("gpus: microVMs have none; choose another provider");
  const Capabilities can = capabilities();
  if (!spec.architecture.empty() && spec.architecture != can.architectures.front()) {
    return absl::FailedPreconditionError(
        cat("architecture: '", spec.architecture, "' is requested, but microVMs here are ", can.architectures.front()));
  }
  if (spec.cpu_milli > can.max_cpu_milli) {
    return absl::FailedPreconditionError(
        cat("cpu: ", spec.cpu_milli, "m is more than the ", can.max_cpu_milli, "m of this host"));
  }
  if (spec.memory_mb > can.max_memory_mb) {
    const auto [asked, most] = megabytes_apart(spec.memory_mb, can.max_memory_mb);
    return absl::FailedPreconditionError(cat("memory: ", asked, " is more than the ", most, " of this host"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> FirecrackerProvider::root_for(const WorkerSpec& spec) const {
  if (spec.image.empty()) {
    return settings_.rootfs_was_chosen || access(settings_.rootfs.c_str(), R_OK) == 0 ? settings_.rootfs
                                                                                      : std::string();
  }
  std::string file = image_file(settings_, spec.image);
  if (access(file.c_str(), R_OK) == 0) return file;
  return absl::NotFoundError(cat("image: there is no root file system for '", spec.image, "' at ", file,
                                 "; create it with: ", kBuilder, " --from-tar IMAGE.tar --output ", file));
}

// The folder is the place that a machine takes.
absl::Status FirecrackerProvider::make_room(const std::string& worker) {
  const std::lock_guard lock(room_);
  const size_t there = files_.workers().size();
  if (there >= settings_.max_workers) {
    return absl::ResourceExhaustedError(
        cat("max_workers: all ", settings_.max_workers, " microVMs of provider ", config_.name, " are in use"));
  }
  return files_.make(worker);
}

// An address that is free here may be in use by another installation on this host: then the next one.
absl::StatusOr<std::string> FirecrackerProvider::connect(const std::string& worker) {
  uint32_t from = static_cast<uint32_t>(hash64(worker));
  for (int tries = 1;; ++tries) {
    std::string address;
    {
      const std::lock_guard lock(room_);
      ASSIGN_OR_RETURN(address, leases_.take(worker, from));
    }
    const absl::Status made = make_tap({.name = device_of(worker),
                                        .owner = settings_.jailer ? settings_.uid : geteuid(),
                                        .host = settings_.network.host(),
                                        .guest = address});
    if (made.ok()) return address;
    leases_.give_back(worker);
    if (!absl::IsAlreadyExists(made) || tries == kMostAddressTries) return made;
    from += 1 + static_cast<uint32_t>(hash64(cat(worker, tries)) % 64);
  }
}

absl::Status FirecrackerProvider::boot(Engine& engine, const WorkerSpec& spec, const std::string& root) {
  const std::string folder = files_.folder_of(spec.worker_id);
  // The jailer's control groups are the host's: two installations must not meet there.
  Machine machine{.id = cat(installation_mark(installation_.id), "-", spec.worker_id), .folder = folder};
  machine.console_keeper = installation_.worker_binary;
  machine.jail_parent = jail_parent_;
  machine.vcpus = static_cast<int>(std::max<int64_t>(1, (spec.cpu_milli + 999) / 1000));
  machine.cpu_milli = spec.cpu_milli;
  machine.memory_mb = spec.memory_mb > 0 ? spec.memory_mb + kOwnMemoryMb : settings_.memory_mb;
  machine.kernel = settings_.kernel;
  ASSIGN_OR_RETURN(machine.initramfs, initramfs_for(settings_.kernel, installation_.worker_binary, files_.folder()));
  const int64_t storage_mb = spec.storage_mb > 0 ? std::max<int64_t>(spec.storage_mb, 16) : settings_.storage_mb;
  machine.largest_file = (storage_mb + 1) << 20;

  WorkerSpec seen = spec;
  seen.server_address = as_seen_by_guest(spec.server_address, settings_.network);
  machine.drives = {{.id = "settings", .path = folder + "/settings", .read_only = true}};
  RETURN_IF_ERROR(write_settings_disk(folder + "/settings",
                                      worker_environment(config_, capabilities(), seen, "/var/lib/hodei/worker")));
  if (!root.empty()) {
    machine.drives.push_back({.id = "root", .path = root, .read_only = true});
    ASSIGN_OR_RETURN(const bool scratch, make_scratch_disk(folder + "/scratch", storage_mb));
    if (scratch) machine.drives.push_back({.id = "scratch", .path = folder + "/scratch", .read_only = false});
  }
  ASSIGN_OR_RETURN(const std::string address, connect(spec.worker_id));
  machine.tap = device_of(spec.worker_id);
  machine.mac = machine_address(address);
  machine.boot_arguments = cat("quiet HODEI_VM=1 HODEI_VM_ADDRESS=", address, "/", settings_.network.prefix,
                               " HODEI_VM_GATEWAY=", settings_.network.host(), " HODEI_SERVER=", seen.server_address,
                               root.empty() ? "" : " HODEI_VM_ROOT=1");
  return engine.start(machine);
}

absl::StatusOr<WorkerHandle> FirecrackerProvider::create_worker(const WorkerSpec& spec) {
  RETURN_IF_ERROR(suits(spec));
  const Turns::Turn turn(turns_, spec.worker_id);
  if (files_.has(spec.worker_id)) return handle_of(spec.worker_id);
  ASSIGN_OR_RETURN(const std::string root, root_for(spec));
  RETURN_IF_ERROR(ready());
  std::error_code none;
  fs::create_directories(files_.folder(), none);
  ASSIGN_OR_RETURN(Engine * engine, engines_.get());
  RETURN_IF_ERROR(make_room(spec.worker_id));
  if (const absl::Status booted = boot(*engine, spec, root); !booted.ok()) {
    const std::string said = last_output(files_.folder_of(spec.worker_id));
    remove_all(spec.worker_id).IgnoreError();
    return absl::Status(booted.code(), cat(std::string(booted.message()), said.empty() ? "" : "; ", said));
  }
  watch_.look_again();
  return handle_of(spec.worker_id);
}

absl::StatusOr<WorkerStatus> FirecrackerProvider::worker_status(const WorkerHandle& handle) {
  if (!files_.has(handle.worker_id)) return WorkerStatus{.phase = WorkerPhase::Gone};
  WorkerStatus out = files_.status(handle.worker_id);
  if (out.phase == WorkerPhase::Ended && turns_.is_taken(handle.worker_id))
    return WorkerStatus{.phase = WorkerPhase::Starting};
  if (!files_.has(handle.worker_id)) return WorkerStatus{.phase = WorkerPhase::Gone};
  if (out.phase == WorkerPhase::Starting && boots_too_long(handle.worker_id)) return end_boot(handle.worker_id);
  return out;
}

bool FirecrackerProvider::boots_too_long(const std::string& worker) const {
  const Engine* engine = engines_.chosen();
  const Duration limit = settings_.boot_seconds > 0 ? Duration(std::chrono::seconds(settings_.boot_seconds))
                         : engine == nullptr        ? kLongestBoot
                                                    : engine->boot_limit();
  std::error_code none;
  const auto began = fs::last_write_time(record_of(files_.folder_of(worker)), none);
  return !none && fs::file_time_type::clock::now() - began > limit;
}

// The caller gets the reason; the folder stays until the worker is destroyed.
WorkerStatus FirecrackerProvider::end_boot(const std::string& worker) {
  const std::string folder = files_.folder_of(worker);
  if (const absl::Status ended = end_process(record_of(folder)); !ended.ok()) {
    return {.phase = WorkerPhase::Starting, .reason = std::string(ended.message())};
  }
  const std::string last = last_output(folder);
  return {.phase = WorkerPhase::Ended,
          .reason = cat("its kernel did not boot in time (boot_seconds), so it was stopped; ",
                        last.empty() ? "it printed nothing" : last)};
}

absl::Status FirecrackerProvider::remove_all(const std::string& worker) {
  const std::string folder = files_.folder_of(worker);
  RETURN_IF_ERROR(end_process(record_of(folder)));
  RETURN_IF_ERROR(remove_tap(device_of(worker)));
  if (settings_.jailer) RETURN_IF_ERROR(remove_jail_groups(firecracker_program(settings_), jail_parent_, folder));
  {
    const std::lock_guard lock(room_);
    leases_.give_back(worker);
  }
  return files_.remove(worker);
}

absl::Status FirecrackerProvider::destroy_worker(const WorkerHandle& handle) {
  if (!is_worker_id(handle.worker_id)) return absl::OkStatus();
  const Turns::Turn turn(turns_, handle.worker_id);
  return files_.has(handle.worker_id) ? remove_all(handle.worker_id) : absl::OkStatus();
}

absl::StatusOr<std::vector<OwnedWorker>> FirecrackerProvider::list_workers() {
  // Devices first: one that is there without its folder belonged to a folder that somebody removed by hand.
  const std::vector<std::string> devices = devices_named(devices_);
  std::vector<OwnedWorker> out;
  std::set<std::string> known = {devices_ + kWorkerPortDevice};
  for (const std::string& worker : files_.workers()) {
    known.insert(device_of(worker));
    ASSIGN_OR_RETURN(WorkerStatus now, worker_status({.worker_id = worker, .id = {}}));
    if (now.phase != WorkerPhase::Gone) out.push_back({.handle = handle_of(worker), .status = std::move(now)});
  }
  for (const std::string& device : devices) {
    if (!known.contains(device)) remove_tap(device).IgnoreError();
  }
  return out;
}

absl::StatusOr<std::vector<std::string>> FirecrackerProvider::worker_port_addresses() {
  const std::lock_guard lock(worker_port_mutex_);
  if (!worker_port_.is_open()) {
    RETURN_IF_ERROR(ready());
    ASSIGN_OR_RETURN(worker_port_, hold_address(devices_ + kWorkerPortDevice, settings_.network.host()));
  }
  return std::vector<std::string>{settings_.network.host()};
}

}  // namespace
}  // namespace firecracker

absl::StatusOr<std::unique_ptr<Provider>> make_firecracker_provider(const ProviderConfig& config,
                                                                    const Installation& installation) {
  ASSIGN_OR_RETURN(firecracker::Settings settings, firecracker::read_settings(config, installation));
  return std::make_unique<firecracker::FirecrackerProvider>(config, installation, std::move(settings));
}

}  // namespace hodei::providers

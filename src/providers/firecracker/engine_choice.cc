#include "src/providers/firecracker/engine_choice.h"

#include <filesystem>
#include <fstream>

#include "src/base/hash.h"
#include "src/base/journal.h"
#include "src/base/pause.h"
#include "src/base/random.h"
#include "src/base/status.h"
#include "src/providers/firecracker/boot_files.h"
#include "src/providers/firecracker/firecracker_engine.h"
#include "src/providers/firecracker/machine_files.h"
#include "src/providers/firecracker/qemu_engine.h"
#include "src/providers/firecracker/vm_process.h"

namespace hodei::providers::firecracker {
namespace {

namespace fs = std::filesystem;

constexpr Duration kProbePatience = 25s;
// A guest that did not boot in time may have had a busy host around it: that is not held against KVM until the next
// boot.
constexpr auto kSlownessForgotten = std::chrono::hours(24);
// What has nothing to do with KVM may be put right without starting the host again.
constexpr auto kTroubleForgotten = std::chrono::minutes(10);
constexpr const char* kTrouble = "trouble: ";
constexpr const char* kSlow = " did not boot a guest within 25 seconds";
constexpr Duration kBetweenLooks = 10ms;
constexpr int64_t kProbeMemoryMb = 256;
constexpr const char* kProbePrefix = ".probe-";
constexpr const char* kBooted = "a guest has booted";  // as src/worker/guest/guest.cc says it
constexpr const char* kWorks = "works";

std::string text_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

absl::Status not_there(const std::string& program) {
  return absl::FailedPreconditionError(
      cat("engine: cannot find the program ", program, "; install it or set its path"));
}

}  // namespace

EngineChooser::EngineChooser(const Settings& settings, std::string folder, std::string worker, std::string jail_parent,
                             Duration head_start)
    : settings_(settings),
      folder_(std::move(folder)),
      worker_(std::move(worker)),
      jail_parent_(std::move(jail_parent)),
      head_start_(head_start) {}

EngineChooser::~EngineChooser() {
  stopping_ = true;
  if (prober_.joinable()) prober_.join();
}

std::string EngineChooser::why_not_firecracker() {
  const std::lock_guard lock(mutex_);
  return why_not_firecracker_;
}

bool EngineChooser::is_provisional() {
  const std::lock_guard lock(mutex_);
  return engine_ == nullptr && meanwhile_ != nullptr;
}

Engine* EngineChooser::chosen() {
  const std::lock_guard lock(mutex_);
  return engine_ != nullptr ? engine_.get() : meanwhile_.get();
}

absl::StatusOr<Engine*> EngineChooser::get() {
  std::unique_lock lock(mutex_);
  if (engine_ != nullptr) return engine_.get();
  if (probing_ && meanwhile_ != nullptr) return meanwhile_.get();
  if (!probing_) {
    if (prober_.joinable()) prober_.join();  // it has said what it found
    probing_ = true;
    prober_ = std::thread([this] { probe(); });
  }
  const auto is_known = [this] { return !probing_; };
  if (!found_out_.wait_until(lock, deadline_in(head_start_), is_known)) {
    if (Engine* other = stand_in()) return other;
    found_out_.wait(lock, is_known);
  }
  if (engine_ == nullptr) return verdict_;
  return engine_.get();
}

// Only where QEMU may be the answer: who asked for Firecracker gets nothing else.
Engine* EngineChooser::stand_in() {
  if (meanwhile_ != nullptr || settings_.engine == EngineChoice::Firecracker) return meanwhile_.get();
  const std::string program = find_program(settings_.qemu_binary);
  if (program.empty()) return nullptr;
  meanwhile_ = make_qemu_engine({.program = program, .kvm = false, .uid = settings_.uid, .gid = settings_.gid});
  journal(Level::Info, "firecracker", "whether KVM works is not known yet: until then, microVMs are booted by ",
          meanwhile_->name());
  return meanwhile_.get();
}

void EngineChooser::probe() {
  sweep_probes();
  std::string why_not;
  absl::StatusOr<std::unique_ptr<Engine>> engine = choose(why_not);
  const std::lock_guard lock(mutex_);
  verdict_ = engine.status();
  if (engine.ok()) {
    engine_ = *std::move(engine);
    why_not_firecracker_ = why_not;
    journal(Level::Info, "firecracker", "microVMs are booted by ", engine_->name(),
            why_not.empty() ? "" : ", not by firecracker: ", why_not);
  }
  probing_ = false;
  found_out_.notify_all();
}

absl::StatusOr<std::unique_ptr<Engine>> EngineChooser::choose(std::string& why_not_firecracker) {
  if (settings_.engine == EngineChoice::Firecracker) return try_firecracker();
  if (settings_.engine == EngineChoice::Qemu) return try_qemu();
  absl::StatusOr<std::unique_ptr<Engine>> first = try_firecracker();
  if (first.ok()) return first;
  absl::StatusOr<std::unique_ptr<Engine>> second = try_qemu();
  if (second.ok()) {
    why_not_firecracker = std::string(first.status().message());
    return second;
  }
  return absl::FailedPreconditionError(
      cat(std::string(first.status().message()), "; ", std::string(second.status().message())));
}

absl::StatusOr<std::unique_ptr<Engine>> EngineChooser::try_firecracker() {
  FirecrackerOptions options{.program = firecracker_program(settings_), .jail = {}};
  if (options.program.empty()) return not_there(settings_.firecracker_binary);
  if (settings_.jailer) {
    options.jail = {.jailer = find_program(settings_.jailer_binary), .uid = settings_.uid, .gid = settings_.gid};
    if (options.jail.jailer.empty()) return not_there(settings_.jailer_binary);
  }
  std::unique_ptr<Engine> engine = make_firecracker_engine(std::move(options));
  if (const absl::Status up = boots(*engine); !up.ok()) {
    return absl::FailedPreconditionError(cat("engine: firecracker needs a working KVM: ", std::string(up.message())));
  }
  return engine;
}

absl::StatusOr<std::unique_ptr<Engine>> EngineChooser::try_qemu() {
  QemuOptions options{
      .program = find_program(settings_.qemu_binary), .kvm = true, .uid = settings_.uid, .gid = settings_.gid};
  if (options.program.empty()) return not_there(settings_.qemu_binary);
  std::unique_ptr<Engine> with_kvm = make_qemu_engine(options);
  const absl::Status up = boots(*with_kvm);
  if (up.ok()) return with_kvm;
  journal(Level::Info, "firecracker", "qemu runs without KVM: ", std::string(up.message()));
  options.kvm = false;
  return make_qemu_engine(options);
}

absl::Status EngineChooser::boots(Engine& engine) {
  std::error_code none;
  const std::string program = engine.program();
  const auto changed = fs::last_write_time(program, none).time_since_epoch().count();
  const std::string key = cat(text_of_file("/proc/sys/kernel/random/boot_id"), engine.name(), " ", program, " ",
                              changed, " ", settings_.kernel, "\n");
  const std::string note = fmt::format("{}/.booted-{:016x}", folder_, hash64(cat(engine.name(), program)));
  const std::string noted = text_of_file(note);
  const std::string verdict = noted.starts_with(key) ? noted.substr(key.size()) : std::string();
  const auto age = fs::file_time_type::clock::now() - fs::last_write_time(note, none);
  const bool is_trouble = verdict.starts_with(kTrouble);
  const bool forgotten =
      (verdict.find(kSlow) != std::string::npos && age > kSlownessForgotten) || (is_trouble && age > kTroubleForgotten);
  if (!verdict.empty() && !forgotten) {
    if (verdict == kWorks) return absl::OkStatus();
    return absl::UnavailableError(is_trouble ? verdict.substr(std::string_view(kTrouble).size()) : verdict);
  }
  const absl::Status up = boot_a_guest(engine);
  if (stopping_) return up;  // nothing was found out
  // Whatever it is: the next start of the server, and the next look at its health, need not find it out again.
  const std::string found = up.ok()                   ? std::string(kWorks)
                            : absl::IsUnavailable(up) ? std::string(up.message())
                                                      : cat(kTrouble, std::string(up.message()));
  std::ofstream(note, std::ios::trunc) << key << found;
  return up;
}

absl::Status EngineChooser::boot_a_guest(Engine& engine) {
  ASSIGN_OR_RETURN(const std::string initramfs, initramfs_for(settings_.kernel, worker_, folder_));
  const std::string id = cat("probe-", random_uuid());
  const Machine machine{.id = id,
                        .folder = cat(folder_, "/", kProbePrefix, id),
                        .memory_mb = kProbeMemoryMb,
                        .kernel = settings_.kernel,
                        .initramfs = initramfs,
                        .boot_arguments = "quiet HODEI_VM=probe",
                        .drives = {},
                        .tap = {},
                        .mac = {},
                        .console_keeper = worker_,
                        .jail_parent = jail_parent_};
  std::error_code error;
  fs::create_directories(machine.folder, error);
  absl::Status up = engine.start(machine);
  const SystemClock clock;
  const MonoTime end = clock.now().mono + kProbePatience;
  const std::string record = record_of(machine.folder), console = console_of(machine.folder);
  while (up.ok()) {
    const bool runs = process_state(record) == ProcessState::Running;
    if (text_of_file(console).find(kBooted) != std::string::npos) break;
    if (stopping_) up = absl::CancelledError("the provider is being closed");
    if (up.ok() && !runs) up = absl::UnavailableError(cat(engine.name(), " ended before a guest had booted"));
    if (up.ok() && clock.now().mono > end) up = absl::UnavailableError(cat(engine.name(), kSlow));
    if (up.ok()) pause_for(kBetweenLooks);
  }
  end_process(record).IgnoreError();
  const std::string said = last_output(machine.folder);
  if (settings_.jailer) remove_jail_groups(firecracker_program(settings_), jail_parent_, machine.folder).IgnoreError();
  fs::remove_all(machine.folder, error);
  if (up.ok() || said.empty()) return up;
  return absl::Status(up.code(), cat(std::string(up.message()), "; ", said));
}

void EngineChooser::sweep_probes() {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder_, none)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kProbePrefix)) continue;
    end_process(record_of(entry.path())).IgnoreError();
    fs::remove_all(entry.path(), none);
  }
}

}  // namespace hodei::providers::firecracker

#include "src/providers/process/process_provider.h"

#include <signal.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "src/base/ids.h"
#include "src/base/pause.h"
#include "src/base/status.h"
#include "src/providers/foreign_text.h"
#include "src/providers/option_reader.h"
#include "src/providers/process/process_look.h"
#include "src/providers/process/process_watch.h"
#include "src/providers/process/worker_record.h"
#include "src/providers/process/worker_start.h"
#include "src/providers/worker_environment.h"

namespace hodei::providers {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShownOfOutput = 300;  // bytes of a log's last line in a reason
constexpr uint32_t kDefaultMostProcesses = 64;
constexpr uint32_t kLargestMostProcesses = 10'000;
constexpr Duration kGrace = 2s;
constexpr Duration kLongestGrace = 25s;  // destroy_worker ends within kCallTimeout
constexpr Duration kDeath = 2s;          // after SIGKILL, before it is reported that it does not die
// A process that a killed server was just starting becomes the worker, with its marks, no later than this.
constexpr Duration kLateStart = 250ms;
constexpr const char* kOwnerVariable = "HODEI_WORKER_OWNER";

std::string machine() {
  utsname names{};
  return uname(&names) == 0 ? names.machine : "";
}

// Ids become names of folders.
bool fits(const std::string& worker_id) {
  return check_name("worker_id", worker_id).ok() && !worker_id.starts_with('.');
}

struct ProcessSettings {
  std::string binary;
  std::string folder;
  uint32_t max_workers = kDefaultMostProcesses;
  Duration grace = kGrace;
};

class ProcessProvider final : public Provider {
 public:
  ProcessProvider(ProviderConfig config, Installation installation, ProcessSettings settings)
      : config_(std::move(config)), installation_(std::move(installation)), settings_(std::move(settings)) {}

  Capabilities capabilities() const override;
  absl::StatusOr<WorkerHandle> create_worker(const WorkerSpec& spec) override;
  absl::StatusOr<WorkerStatus> worker_status(const WorkerHandle& handle) override;
  absl::Status destroy_worker(const WorkerHandle& handle) override;
  absl::StatusOr<std::string> worker_logs(const WorkerHandle& handle, size_t tail) override;
  absl::StatusOr<std::vector<OwnedWorker>> list_workers() override;
  Health health_check() override;
  Duration estimated_startup_time() const override { return 100ms; }
  void watch(Changed changed) override;
  void unwatch() override { watch_.stop(); }

 private:
  WorkerFolder folder(const std::string& worker_id) const { return WorkerFolder(settings_.folder + "/" + worker_id); }
  absl::Status check(const WorkerSpec& spec) const;
  absl::StatusOr<std::vector<std::string>> known_ids() const;
  absl::StatusOr<WorkerHandle> start(const WorkerSpec& spec, const WorkerFolder& folder);
  OwnedWorker look(const std::string& worker_id);
  // A worker of an earlier server that was killed before it could write down whom it had started.
  WorkerRecord with_process(const std::string& worker_id, WorkerRecord record) const;
  Marks marks_of(const std::string& worker_id) const {
    return {cat("HODEI_WORKER_ID=", worker_id), cat(kOwnerVariable, "=", installation_.id, "/", config_.name)};
  }
  absl::Status end(const std::string& worker_id, const WorkerFolder& folder) const;

  const ProviderConfig config_;
  const Installation installation_;
  const ProcessSettings settings_;
  std::mutex making_;  // one at a time: counting and making must be one step, and it takes a millisecond
  std::mutex mutex_;   // of what follows
  std::condition_variable settled_;
  std::set<std::string> starting_, ending_;
  ProcessWatch watch_;
};

Capabilities ProcessProvider::capabilities() const {
  Capabilities can;
  can.max_cpu_milli = static_cast<int64_t>(std::thread::hardware_concurrency()) * 1000;
  can.max_memory_mb = (sysconf(_SC_PHYS_PAGES) / 1024) * (sysconf(_SC_PAGESIZE) / 1024);
  can.architectures = {machine()};
  can.max_workers = settings_.max_workers;
  can.isolation = Isolation::Process;
  return can;
}

absl::Status ProcessProvider::check(const WorkerSpec& spec) const {
  if (!fits(spec.worker_id)) return bad_field("worker_id", "'", spec.worker_id, "' cannot be the name of a folder");
  if (!spec.image.empty()) {
    return bad_field("image", "provider ", config_.name,
                     " starts processes on this machine and does not support images; leave the image out, or ",
                     "choose a provider of containers or microVMs");
  }
  if (spec.gpus > 0) return bad_field("gpus", "provider ", config_.name, " has no GPUs");
  if (!spec.architecture.empty() && spec.architecture != machine()) {
    return bad_field("architecture", "this machine is ", machine(), ", not ", spec.architecture);
  }
  if (settings_.binary.empty()) {
    return absl::FailedPreconditionError(cat("provider ", config_.name,
                                             ": there is no hodei-worker next to this program; build it, ",
                                             "or set its path with the option binary"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ProcessProvider::known_ids() const {
  std::vector<std::string> ids;
  std::error_code failed;
  for (fs::directory_iterator it(settings_.folder, failed), end; !failed && it != end; it.increment(failed)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) ids.push_back(it->path().filename());
  }
  if (failed && failed != std::errc::no_such_file_or_directory) {
    return absl::InternalError(cat("cannot read ", settings_.folder, ": ", failed.message()));
  }
  return ids;
}

absl::StatusOr<WorkerHandle> ProcessProvider::create_worker(const WorkerSpec& spec) {
  RETURN_IF_ERROR(check(spec));
  const std::scoped_lock one(making_);
  {
    const std::scoped_lock lock(mutex_);
    if (ending_.contains(spec.worker_id)) return absl::UnavailableError(cat(spec.worker_id, " is being destroyed"));
  }
  const WorkerFolder own = folder(spec.worker_id);
  if (own.exists()) {
    const OwnedWorker known = look(spec.worker_id);
    if (known.status.phase == WorkerPhase::Running) return known.handle;
    return absl::UnavailableError(cat(spec.worker_id, " has ended (", known.status.reason, "); destroy it first"));
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> ids, known_ids());
  if (ids.size() >= settings_.max_workers) {
    return absl::ResourceExhaustedError(
        cat("provider ", config_.name, " has ", ids.size(), " workers, which is its limit (option max_workers)"));
  }
  {
    const std::scoped_lock lock(mutex_);
    starting_.insert(spec.worker_id);
  }
  absl::StatusOr<WorkerHandle> made = start(spec, own);
  {
    const std::scoped_lock lock(mutex_);
    starting_.erase(spec.worker_id);
  }
  settled_.notify_all();
  return made;
}

absl::StatusOr<WorkerHandle> ProcessProvider::start(const WorkerSpec& spec, const WorkerFolder& own) {
  RETURN_IF_ERROR(own.make());
  WorkerRecord record{.boot = boot_id()};
  absl::Status ready = own.write(record);
  StringMap words = worker_environment(config_, capabilities(), spec, own.state());
  words[kOwnerVariable] = cat(installation_.id, "/", config_.name);
  absl::StatusOr<pid_t> pid = ready.ok() ? start_worker(settings_.binary, words, "/", own.log()) : ready;
  if (!pid.ok()) {
    own.remove().IgnoreError();
    return pid.status();
  }
  record.process = name_of(*pid);
  if (absl::Status written = own.write(record); !written.ok()) {
    end(spec.worker_id, own).IgnoreError();
    return written;
  }
  watch_.add(spec.worker_id, record.process);
  return WorkerHandle{.worker_id = spec.worker_id, .id = std::to_string(*pid)};
}

WorkerRecord ProcessProvider::with_process(const std::string& worker_id, WorkerRecord record) const {
  if (record.process.pid > 0) return record;
  // The oldest is the worker itself: all others descend from it.
  for (const pid_t pid : marked_processes({marks_of(worker_id)})) {
    const ProcessName process = name_of(pid);
    if (process.started == 0) continue;
    const bool older = record.process.pid == 0 || process.started < record.process.started ||
                       (process.started == record.process.started && process.pid < record.process.pid);
    if (older) record.process = process;
  }
  return record;
}

OwnedWorker ProcessProvider::look(const std::string& worker_id) {
  OwnedWorker out{.handle = {.worker_id = worker_id, .id = {}}, .status = {}};
  const WorkerFolder own = folder(worker_id);
  if (!fits(worker_id) || !own.exists()) return out;
  {
    const std::scoped_lock lock(mutex_);
    if (starting_.contains(worker_id)) {
      out.status.phase = WorkerPhase::Starting;
      return out;
    }
  }
  const WorkerRecord written = own.read();
  WorkerRecord record = with_process(worker_id, written);
  const bool this_boot = record.boot == boot_id() || written.process.pid == 0;
  const ProcessState state = this_boot ? state_of(record.process) : ProcessState::Gone;
  if (record.process.pid > 0) out.handle.id = std::to_string(record.process.pid);
  if (state == ProcessState::Alive) {
    out.status.phase = WorkerPhase::Running;
    if (written.process.pid == 0) own.write(record).IgnoreError();
    return out;
  }
  out.status.phase = WorkerPhase::Ended;
  if (const std::string how = reap(record.process); !how.empty()) {
    record.ended = how;
    own.write(record).IgnoreError();
  }
  const absl::StatusOr<std::string> last = own.log_tail(1);
  out.status.reason = record.process.pid == 0 ? "its process was never started"
                      : !this_boot            ? "the machine was restarted"
                      : record.ended.empty()  ? "its process is gone"
                                              : cat("its process ended with ", record.ended);
  if (last.ok() && !last->empty()) out.status.reason += cat("; its log ends with: ", first_part(*last, kShownOfOutput));
  return out;
}

absl::StatusOr<WorkerStatus> ProcessProvider::worker_status(const WorkerHandle& handle) {
  return look(handle.worker_id).status;
}

absl::StatusOr<std::vector<OwnedWorker>> ProcessProvider::list_workers() {
  ASSIGN_OR_RETURN(const std::vector<std::string> ids, known_ids());
  std::vector<OwnedWorker> out;
  for (const std::string& id : ids) {
    OwnedWorker one = look(id);
    if (one.status.phase != WorkerPhase::Gone) out.push_back(std::move(one));
  }
  return out;
}

absl::Status ProcessProvider::end(const std::string& worker_id, const WorkerFolder& own) const {
  const WorkerRecord written = own.read();
  WorkerRecord record = with_process(worker_id, written);
  const SystemClock clock;
  for (const MonoTime limit = clock.now().mono + kLateStart; record.process.pid == 0 && clock.now().mono < limit;) {
    pause_for(5ms);
    record = with_process(worker_id, written);
  }
  const bool this_boot = record.boot == boot_id() || written.process.pid == 0;
  if (this_boot && signal_process(record.process, SIGTERM) && !wait_for_end(record.process, settings_.grace)) {
    signal_process(record.process, SIGKILL);
    if (!wait_for_end(record.process, kDeath)) {
      return absl::DeadlineExceededError(cat("process ", record.process.pid, " of ", worker_id, " cannot be killed"));
    }
  }
  reap(record.process);
  // Whatever is left of it: jobs carry only the mark that the worker chose.
  std::vector<Marks> marks = {marks_of(worker_id)};
  const std::string mark = own.mark();
  if (!mark.empty()) marks.push_back({cat("HODEI_WORKER_MARK=", mark)});
  if (!kill_control_groups(mark) || !kill_marked_processes(marks)) {
    return absl::DeadlineExceededError(cat("processes of ", worker_id, " cannot be killed"));
  }
  return own.remove();
}

absl::Status ProcessProvider::destroy_worker(const WorkerHandle& handle) {
  const WorkerFolder own = folder(handle.worker_id);
  if (!fits(handle.worker_id)) return absl::OkStatus();
  {
    // Another destroy of the same worker, or its start, comes to its end first.
    std::unique_lock lock(mutex_);
    settled_.wait(lock, [&] { return !ending_.contains(handle.worker_id) && !starting_.contains(handle.worker_id); });
    if (!own.exists()) return absl::OkStatus();
    ending_.insert(handle.worker_id);
  }
  watch_.forget(handle.worker_id);  // its end is no news
  const absl::Status done = end(handle.worker_id, own);
  {
    const std::scoped_lock lock(mutex_);
    ending_.erase(handle.worker_id);
  }
  settled_.notify_all();
  return done;
}

void ProcessProvider::watch(Changed changed) {
  watch_.start(std::move(changed));
  for (const std::string& id : known_ids().value_or(std::vector<std::string>())) {
    watch_.add(id, with_process(id, folder(id).read()).process);
  }
}

absl::StatusOr<std::string> ProcessProvider::worker_logs(const WorkerHandle& handle, size_t tail) {
  const WorkerFolder own = folder(handle.worker_id);
  if (!fits(handle.worker_id) || !own.exists())
    return absl::NotFoundError(cat("there is no worker ", handle.worker_id));
  return own.log_tail(tail);
}

Health ProcessProvider::health_check() {
  if (settings_.binary.empty())
    return {HealthState::Unhealthy, "there is no hodei-worker next to this program; see the option binary"};
  if (access(settings_.binary.c_str(), X_OK) != 0)
    return {HealthState::Unhealthy, cat(settings_.binary, " cannot be run")};
  std::error_code failed;
  fs::create_directories(settings_.folder, failed);
  if (failed || access(settings_.folder.c_str(), W_OK) != 0) {
    return {HealthState::Unhealthy, cat(settings_.folder, " cannot be written")};
  }
  return {HealthState::Healthy, ""};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Provider>> make_process_provider(const ProviderConfig& config,
                                                                const Installation& installation) {
  OptionReader options(config);
  ProcessSettings settings;
  std::error_code failed;
  const std::string beside =
      installation.worker_binary.empty() ? "" : fs::absolute(installation.worker_binary, failed).string();
  settings.binary = options.text("binary", beside);
  settings.max_workers = options.number("max_workers", kDefaultMostProcesses, 1, kLargestMostProcesses);
  settings.grace = options.time("grace", kGrace, kLongestGrace);
  if (!settings.binary.empty() && settings.binary[0] != '/') options.refuse("binary", "must be an absolute path");
  RETURN_IF_ERROR(options.finish());
  settings.folder = fs::absolute(fs::path(installation.folder) / config.name, failed);
  return std::make_unique<ProcessProvider>(config, installation, std::move(settings));
}

}  // namespace hodei::providers

#include "src/providers/firecracker/firecracker_engine.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "nlohmann/json.hpp"
#include "src/base/http/client.h"
#include "src/base/pause.h"
#include "src/base/status.h"
#include "src/providers/firecracker/fd.h"
#include "src/providers/firecracker/vm_process.h"

namespace hodei::providers::firecracker {
namespace {

using Json = nlohmann::json;

constexpr const char* kSocket = "api.sock";
constexpr Duration kSocketPatience = 20s;
constexpr Duration kBetweenSocketTries = 2ms;
constexpr Duration kCallLimit = 10s;
constexpr Duration kBootLimit = 60s;

// A socket's path is limited to 107 bytes; through an open folder it is always short enough.
class Api {
 public:
  explicit Api(const std::string& folder) : folder_(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    options_.unix_socket = cat("/proc/self/fd/", folder_.get(), "/", kSocket);
    options_.total_timeout = kCallLimit;
  }

  absl::Status wait(const std::string& record) const {
    const SystemClock clock;
    const MonoTime end = clock.now().mono + kSocketPatience;
    while (true) {
      const absl::StatusOr<http::Response> there = http::call({.url = "http://localhost/"}, options_);
      if (there.ok()) return absl::OkStatus();
      if (process_state(record) != ProcessState::Running)
        return absl::UnavailableError("firecracker has ended at once");
      if (clock.now().mono > end) {
        return absl::UnavailableError(
            cat("firecracker does not answer on its socket: ", std::string(there.status().message())));
      }
      pause_for(kBetweenSocketTries);
    }
  }

  absl::Status put(const ApiCall& call) const {
    http::Request request{.method = "PUT", .url = cat("http://localhost", call.path)};
    request.headers["Content-Type"] = "application/json";
    request.headers["Accept"] = "application/json";
    request.body = call.body;
    ASSIGN_OR_RETURN(const http::Response answer, http::call(request, options_));
    if (answer.ok()) return absl::OkStatus();
    return absl::FailedPreconditionError(cat("firecracker refuses ", call.path, ": ", http::describe(answer)));
  }

 private:
  Fd folder_;
  http::Options options_;
};

// Only the user that Firecracker runs as may write to it.
absl::Status make_monitor_log(const std::string& path, uint32_t owner) {
  const Fd file(open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.is_open() && fchown(file.get(), owner, static_cast<gid_t>(-1)) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "making " + path);
}

// One, or an even number.
int vcpu_count(int wanted) { return wanted <= 1 ? 1 : wanted + wanted % 2; }

class FirecrackerEngine final : public Engine {
 public:
  explicit FirecrackerEngine(FirecrackerOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return jailed() ? "firecracker in its jailer" : "firecracker"; }
  std::string program() const override { return options_.program; }
  Duration startup_time() const override { return Duration(300ms); }
  Duration boot_limit() const override { return kBootLimit; }

  absl::Status start(const Machine& machine) override {
    const std::string record = record_of(machine.folder);
    Launch launch{.arguments = {options_.program},
                  .folder = machine.folder,
                  .record = record,
                  .output = console_of(machine.folder),
                  .console_keeper = machine.console_keeper,
                  .largest_file = machine.largest_file};
    Machine seen = machine;
    std::string root = machine.folder;
    if (jailed()) {
      root = jail_root(options_.program, machine.id, machine.folder);
      ASSIGN_OR_RETURN(seen, move_into_jail(options_.jail, root, machine));
      launch.arguments = jailer_arguments(options_.jail, options_.program, machine);
    } else {
      launch.arguments.insert(launch.arguments.end(), {"--id", jail_id(machine.id)});
    }
    seen.monitor_log = cat(jailed() ? "/" : root + "/", kMonitorLog);
    RETURN_IF_ERROR(make_monitor_log(cat(root, "/", kMonitorLog), jailed() ? options_.jail.uid : geteuid()));
    launch.arguments.insert(launch.arguments.end(), {"--api-sock", kSocket});
    RETURN_IF_ERROR(start_recorded(launch));
    const Api api(root);
    RETURN_IF_ERROR(api.wait(record));
    for (const ApiCall& call : firecracker_calls(seen)) RETURN_IF_ERROR(api.put(call));
    return absl::OkStatus();
  }

 private:
  bool jailed() const { return !options_.jail.jailer.empty(); }

  FirecrackerOptions options_;
};

}  // namespace

std::vector<ApiCall> firecracker_calls(const Machine& machine) {
  std::vector<ApiCall> out;
  const auto add = [&out](std::string path, const Json& body) { out.push_back({std::move(path), body.dump()}); };
  // Its own messages are kept apart from the guest's: on the console the last one would always be that it exits
  // successfully.
  if (!machine.monitor_log.empty()) {
    add("/logger", {{"log_path", machine.monitor_log}, {"level", "Info"}, {"show_level", true}});
  }
  add("/machine-config",
      {{"vcpu_count", vcpu_count(machine.vcpus)}, {"mem_size_mib", machine.memory_mb}, {"smt", false}});
  // k: the keyboard controller's reset, the one that Firecracker understands as the machine's end.
  add("/boot-source",
      {{"kernel_image_path", machine.kernel},
       {"initrd_path", machine.initramfs},
       {"boot_args", cat("console=ttyS0 reboot=k panic=-1 pci=off i8042.noaux i8042.nomux i8042.dumbkbd ",
                         machine.boot_arguments)}});
  for (const Drive& drive : machine.drives) {
    add("/drives/" + drive.id, {{"drive_id", drive.id},
                                {"path_on_host", drive.path},
                                {"is_root_device", false},
                                {"is_read_only", drive.read_only}});
  }
  if (!machine.tap.empty()) {
    add("/network-interfaces/eth0", {{"iface_id", "eth0"}, {"host_dev_name", machine.tap}, {"guest_mac", machine.mac}});
  }
  add("/actions", {{"action_type", "InstanceStart"}});
  return out;
}

std::unique_ptr<Engine> make_firecracker_engine(FirecrackerOptions options) {
  return std::make_unique<FirecrackerEngine>(std::move(options));
}

}  // namespace hodei::providers::firecracker

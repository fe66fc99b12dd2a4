#include "src/providers/firecracker/qemu_engine.h"

#include <unistd.h>

#include "src/base/pause.h"
#include "src/base/status.h"
#include "src/providers/firecracker/vm_process.h"

namespace hodei::providers::firecracker {
namespace {

constexpr Duration kCounting = 50ms;
constexpr Duration kBootWithKvm = 60s;
constexpr Duration kBootEmulated = 300s;  // two seconds of cpu time, on a host that may be busy

// Ticks of the processor's counter in a millisecond.
int64_t host_counter_khz() {
  static const int64_t measured = [] {
    const SystemClock clock;
    const MonoTime began = clock.now().mono;
    const uint64_t first = __builtin_ia32_rdtsc();
    pause_for(kCounting);
    const Duration took = clock.now().mono - began;
    return static_cast<int64_t>(__builtin_ia32_rdtsc() - first) * 1000 / took.count();
  }();
  return measured;
}

// In QEMU's option lists a comma of a value is written twice.
std::string quoted(const std::string& value) {
  std::string out;
  for (const char c : value) out += c == ',' ? std::string(",,") : std::string(1, c);
  return out;
}

// An emulated processor counts with the host's own counter. A guest that had to measure it would fail to, now and then,
// when the host is busy, and wait for ever: so it is told.
std::string clock_arguments(const QemuOptions& options) {
  return options.kvm ? std::string() : cat("tsc=reliable tsc_early_khz=", host_counter_khz(), " ");
}

class QemuEngine final : public Engine {
 public:
  explicit QemuEngine(QemuOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return options_.kvm ? "qemu with KVM" : "qemu with software emulation"; }
  std::string program() const override { return options_.program; }
  Duration startup_time() const override { return options_.kvm ? Duration(1s) : Duration(5s); }
  Duration boot_limit() const override { return options_.kvm ? kBootWithKvm : kBootEmulated; }

  absl::Status start(const Machine& machine) override {
    return start_recorded({.arguments = qemu_arguments(options_, machine),
                           .folder = machine.folder,
                           .record = record_of(machine.folder),
                           .output = console_of(machine.folder),
                           .console_keeper = machine.console_keeper,
                           .largest_file = machine.largest_file});
  }

 private:
  QemuOptions options_;
};

}  // namespace

std::vector<std::string> qemu_arguments(const QemuOptions& options, const Machine& machine) {
  std::vector<std::string> out = {
      options.program, "-name", cat("hodei-", machine.id), "-M",
      "microvm,acpi=on,pit=off,pic=off,rtc=on,isa-serial=on,x-option-roms=off,auto-kernel-cmdline=off", "-nodefaults",
      "-no-user-config", "-nographic", "-no-reboot", "-sandbox",
      "on,obsolete=deny,elevateprivileges=allow,spawn=deny,resourcecontrol=deny", "-accel", options.kvm ? "kvm" : "tcg",
      "-cpu", options.kvm ? "host" : "max", "-m", cat(machine.memory_mb, "M"), "-smp", cat(machine.vcpus), "-kernel",
      machine.kernel, "-initrd", machine.initramfs,
      // A machine that ends starts again by a triple fault, the one way that this machine has; -no-reboot ends it then.
      "-append", cat("console=ttyS0 reboot=t panic=-1 ", clock_arguments(options), machine.boot_arguments), "-chardev",
      "stdio,id=console,signal=off", "-serial", "chardev:console"};
  const auto add = [&out](const std::string& flag, const std::string& value) {
    out.push_back(flag);
    out.push_back(value);
  };
  if (geteuid() == 0 && options.uid != 0) add("-runas", cat(options.uid, ":", options.gid));
  for (const Drive& drive : machine.drives) {
    add("-drive", cat("if=none,format=raw,id=", drive.id, ",readonly=", drive.read_only ? "on" : "off",
                      ",file=", quoted(drive.path)));
    add("-device", cat("virtio-blk-device,drive=", drive.id));
  }
  if (!machine.tap.empty()) {
    add("-netdev", cat("tap,id=net0,script=no,downscript=no,ifname=", machine.tap));
    add("-device", cat("virtio-net-device,netdev=net0,mac=", machine.mac));
  }
  return out;
}

std::unique_ptr<Engine> make_qemu_engine(QemuOptions options) {
  return std::make_unique<QemuEngine>(std::move(options));
}

}  // namespace hodei::providers::firecracker

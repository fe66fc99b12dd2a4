#include "src/providers/firecracker/machine_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#include <vector>

#include "src/providers/firecracker/machine.h"
#include "src/providers/firecracker/vm_process.h"

namespace hodei::providers::firecracker {

void MachineWatch::start(Provider::Changed changed) {
  stop();
  wake_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  thread_ = std::jthread([this, changed = std::move(changed)](std::stop_token stop) { run(std::move(stop), changed); });
}

void MachineWatch::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  look_again();
  thread_.join();
}

void MachineWatch::look_again() const {
  const uint64_t one = 1;
  if (wake_.is_open()) [[maybe_unused]]
    const ssize_t wrote = write(wake_.get(), &one, sizeof(one));
}

void MachineWatch::run(std::stop_token stop, const Provider::Changed& changed) const {
  while (!stop.stop_requested()) {
    std::vector<std::string> names;
    std::vector<Fd> processes;
    std::vector<pollfd> waits = {{wake_.get(), POLLIN, 0}};
    for (const std::string& worker : files_.workers()) {
      const int pid = running_pid(record_of(files_.folder_of(worker)));
      if (pid < 0) continue;
      processes.emplace_back(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
      if (!processes.back().is_open()) continue;
      names.push_back(worker);
      waits.push_back({processes.back().get(), POLLIN, 0});
    }
    poll(waits.data(), waits.size(), -1);
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = read(wake_.get(), &count, sizeof(count));
    for (size_t i = 0; i < names.size() && !stop.stop_requested(); ++i) {
      if (waits[i + 1].revents != 0) changed(names[i]);
    }
  }
}

}  // namespace hodei::providers::firecracker

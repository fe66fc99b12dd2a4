// The `hodei-worker` binary: the worker alone, with every library inside. It needs nothing of the machine but a kernel:
// no loader, no /etc, no /proc, not even open streams. So it can be the only file of an image or an initramfs.
#include <nss.h>
#include <unistd.h>

#include <cstdlib>

#include "src/base/version.h"
#include "src/cli/cli.h"
#include "src/main/console_keeper.h"
#include "src/main/self_install.h"
#include "src/main/worker_start.h"
#include "src/worker/guest/guest.h"
#include "src/worker/system/first_process.h"

namespace {

// The C library would load modules that /etc/nsswitch.conf names, from a machine that may have another C library. Files
// and DNS are built in.
void use_built_in_lookups() {
  for (const char* files_only : {"passwd", "group", "services", "protocols"})
    __nss_configure_lookup(files_only, "files");
  __nss_configure_lookup("hosts", "files dns");
}

}  // namespace

int main(int argc, char** argv) {
  hodei::worker::hold_standard_streams();
  use_built_in_lookups();
  hodei::quiet_libraries();
  int exit_code = 0;
  if (hodei::was_attached_agent(argc, argv, exit_code)) return exit_code;
  if (hodei::was_console_keeper(argc, argv, exit_code)) return exit_code;
  if (hodei::was_self_install(argc, argv, exit_code)) return exit_code;
  const bool guest = hodei::worker::is_guest();
  if (guest) {
    hodei::worker::bring_guest_up();
  } else if (getpid() == 1) {
    hodei::worker::mount_what_is_missing();
  }
  hodei::cli::LocalCommands local;
  local.version = hodei::kVersion;
  hodei::add_worker_commands(local, "hodei-worker");
  exit_code = hodei::cli::run_worker_cli(argc, argv, local);
  if (guest) hodei::worker::switch_guest_off();
  return exit_code;
}

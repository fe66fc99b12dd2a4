// The worker as the first process of a microVM: nobody else is there to load drivers, find disks, set the network up,
// or switch the machine off when all is done. The provider that boots the machine says so with HODEI_VM in the boot
// arguments, which the kernel hands to its first process as environment.
//
//   HODEI_VM=1            bring everything up, then be the worker
//   HODEI_VM=probe        say that a guest has booted, switch off
//   HODEI_VM=up           the same process once more, in its real root: everything is up
//   HODEI_VM_ADDRESS      own IPv4 address with prefix length, HODEI_VM_GATEWAY the host's
//   HODEI_VM_ROOT=1       a disk with a root file system is there: go on in it
#pragma once

namespace hodei::worker {

// False: this is not the first process, or it is that of a container. Then nothing of this is to be done.
bool is_guest();

// Returns when the worker can start. With a root file system it does not return but starts this program again in there.
// An error is printed on the console, and switches the machine off.
void bring_guest_up();

// Ends the machine.
[[noreturn]] void switch_guest_off();

}  // namespace hodei::worker

// What a worker does when it is the first process of a microVM or of an empty root file system.
#pragma once

#include <string>

namespace hodei::worker {

// Makes sure that descriptors 0, 1 and 2 are taken: otherwise the first files opened would be, and jobs would get them.
void hold_standard_streams();

// Closes all descriptors but the standard streams and `kept`. The parent of this process may have left sockets and
// files open in it by mistake; held on here, they would keep a port in use or a file locked.
void close_inherited_descriptors(int kept = -1);

// For the first process of a machine: 0, 1 and 2 become its console, once /dev is there. The kernel opens it only for
// programs of a root file system that has /dev/console.
void hold_console();

// For the first process only: /proc, /sys, /dev, /run, /tmp and cgroups, where they are empty. What cannot be mounted
// is left out: the worker does without.
void mount_what_is_missing();

// The file of this program: from /proc, else as the kernel was told to start it. Valid after an upgrade too: then it is
// the new one.
std::string own_program();

}  // namespace hodei::worker

// The settings of a firecracker provider: from its options, else from HODEI_FC_ variables of the environment, else the
// defaults.
#pragma once

#include <cstdint>
#include <string>

#include "src/providers/firecracker/address_range.h"
#include "src/providers/provider.h"

namespace hodei::providers::firecracker {

enum class EngineChoice : uint8_t { Auto, Firecracker, Qemu };

struct Settings {
  EngineChoice engine = EngineChoice::Auto;
  std::string kernel = "/var/lib/hodei/vmlinux";
  std::string rootfs = "/var/lib/hodei/rootfs.ext4";  // of workers without an image
  bool rootfs_was_chosen = false;                     // else it may be missing: then a machine has only the worker
  std::string images;                                 // folder; an image is a file in it
  AddressRange network;
  bool jailer = false;
  uint32_t uid = 65534;  // that the machine's process runs as: jailed, or under QEMU
  uint32_t gid = 65534;
  std::string firecracker_binary = "firecracker";  // a path, or looked for in $PATH
  std::string jailer_binary = "jailer";
  std::string qemu_binary = "qemu-system-x86_64";
  int64_t memory_mb = 512;   // default of a machine, its kernel and worker included
  int64_t cpus = 1;          // likewise
  int64_t boot_seconds = 0;  // that a machine may boot for; 0: as its engine says
  int64_t storage_mb = 1024;
  uint32_t max_workers = 0;
};

// An unknown option or a bad value is INVALID_ARGUMENT.
absl::StatusOr<Settings> read_settings(const ProviderConfig& config, const Installation& installation);

// The file of an image in `images`: what cannot be in a file name becomes an underline.
std::string image_file(const Settings& settings, const std::string& image);

// Its path with all links followed: the jailer names folders after the file that it finds in the end. Empty: not there.
std::string firecracker_program(const Settings& settings);

// A program's path, looked for in $PATH; empty: not there.
std::string find_program(const std::string& name);

}  // namespace hodei::providers::firecracker

#include "src/providers/firecracker/leases.h"

#include <unistd.h>

#include <filesystem>

#include "src/base/status.h"

namespace hodei::providers::firecracker {
namespace fs = std::filesystem;

Leases::Leases(std::string folder, AddressRange range, std::function<bool(const std::string&)> lives)
    : folder_(std::move(folder)), range_(range), lives_(std::move(lives)) {}

bool Leases::take_one(const std::string& address, const std::string& worker) {
  const std::string link = cat(folder_, "/", address);
  if (symlink(worker.c_str(), link.c_str()) == 0) return true;
  std::error_code none;
  const std::string owner = fs::read_symlink(link, none);
  if (none || lives_(owner)) return false;
  unlink(link.c_str());
  return symlink(worker.c_str(), link.c_str()) == 0;
}

absl::StatusOr<std::string> Leases::take(const std::string& worker, uint32_t from) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return absl::UnavailableError(cat("cannot create ", folder_, ": ", error.message()));
  for (uint32_t i = 0; i < range_.guests(); ++i) {
    const std::string address = range_.guest((from + i) % range_.guests());
    if (take_one(address, worker)) return address;
  }
  return absl::ResourceExhaustedError(cat("network: all ", range_.guests(), " addresses of ",
                                          format_address(range_.base), "/", range_.prefix,
                                          " are in use; set a larger network for the provider"));
}

void Leases::give_back(const std::string& worker) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder_, none)) {
    if (fs::read_symlink(entry.path(), none) == worker) fs::remove(entry.path(), none);
  }
}

}  // namespace hodei::providers::firecracker

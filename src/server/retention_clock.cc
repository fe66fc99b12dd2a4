#include "src/server/retention_clock.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>

namespace hodei::server {
namespace {

constexpr int kFastest = 2;  // as a multiple of the boot-time clock
constexpr int kSlowest = 2;  // as a fraction of it

// When the data folder was last written to, by the wall clock of then.
std::optional<WallTime> last_written(const std::string& folder) {
  std::optional<WallTime> newest;
  for (const char* name : {"/hodei.db", "/hodei.db-wal"}) {
    struct stat file {};
    if (::stat((folder + name).c_str(), &file) != 0) continue;
    const WallTime written{int64_t{file.st_mtim.tv_sec} * 1'000'000 + file.st_mtim.tv_nsec / 1000};
    newest = std::max(newest.value_or(written), written);
  }
  return newest;
}

// From `known` on, as far as the wall clock says, but not too far.
WallTime within_gap(WallTime known, WallTime wall) { return std::clamp(wall, known, known + RetentionClock::kMaxGap); }

}  // namespace

std::string RetentionClock::this_boot() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

RetentionClock::RetentionClock(std::string folder, const Clock& clock, std::string boot)
    : folder_(std::move(folder)), clock_(clock), boot_(std::move(boot)), reading_(resume()) {}

RetentionClock::Reading RetentionClock::resume() const {
  const Now now = clock_.now();
  std::ifstream file(path());
  Reading saved;
  std::string boot;
  if (file >> saved.time.us >> saved.at.us >> boot) {
    if (boot == boot_ && saved.at <= now.mono) return saved;  // the machine's clock has measured what passed meanwhile
    return {within_gap(saved.time, now.wall), now.mono};
  }
  // A new folder, or one of a version that had no such clock.
  const std::optional<WallTime> written = last_written(folder_);
  return {written ? within_gap(*written, now.wall) : now.wall, now.mono};
}

WallTime RetentionClock::advanced(const Reading& from, Now to) {
  const Duration passed = std::max(to.mono - from.at, Duration(0));
  return std::clamp(to.wall, from.time + passed / kSlowest, from.time + passed * kFastest);
}

Now RetentionClock::now() const {
  const std::lock_guard lock(mutex_);
  const Now now = clock_.now();
  reading_ = {advanced(reading_, now), now.mono};
  return {reading_.time, now.mono};
}

void RetentionClock::save() const {
  const Now at = now();
  const std::string fresh = path() + ".new";
  {
    std::ofstream file(fresh, std::ios::trunc);
    file << at.wall.us << ' ' << at.mono.us << ' ' << (boot_.empty() ? "unknown" : boot_) << '\n';
    file.close();
    if (!file) return;
  }
  std::rename(fresh.c_str(), path().c_str());
}

}  // namespace hodei::server

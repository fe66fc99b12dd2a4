#include "tests/sim/world.h"

#include <cstdio>

namespace hodei::sim {

bool World::step(Duration end) {
  if (events_.empty() || events_.begin()->first.first > end) {
    elapsed_ = std::max(elapsed_, end);
    return false;
  }
  auto node = events_.extract(events_.begin());
  elapsed_ = node.key().first;
  node.mapped()();
  return true;
}

void World::broken(std::string what) {
  if (failure_.empty()) failure_ = std::move(what);
  trace("BROKEN ", failure_);
}

void World::print(const std::string& line) const {
  std::printf("%12.6f %s\n", static_cast<double>(elapsed_.count()) / 1e6, line.c_str());
}

}  // namespace hodei::sim

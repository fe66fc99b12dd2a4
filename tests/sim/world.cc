#include "tests/sim/world.h"

#include <cstdio>

namespace hodei::sim {
namespace {

constexpr uint64_t kMostAtOnce = 100'000;

}  // namespace

bool World::step(Duration end) {
  if (events_.empty() || events_.begin()->first.first > end) {
    elapsed_ = std::max(elapsed_, end);
    return false;
  }
  auto node = events_.extract(events_.begin());
  // Somebody who is due again and again, and does nothing about it, would keep the others waiting for ever.
  at_once_ = node.key().first > elapsed_ ? 0 : at_once_ + 1;
  if (at_once_ > kMostAtOnce) broken("time stands still: something is due again and again");
  elapsed_ = std::max(elapsed_, node.key().first);
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

// The shapes that jobs wait with, or did until recently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "src/core/placement/lane.h"
#include "src/core/placement/ordinals.h"

namespace hodei::core {

class WorkerClasses;

class ShapeTable {
 public:
  using ByOrdinal = std::map<Ordinal, WaitingShape*>;

  // Shapes that are kept although no job waits with them now.
  static constexpr size_t kMaxIdle = 256;

  ShapeTable(Ordinals& ordinals, const WorkerClasses& classes) : ordinals_(ordinals), classes_(classes) {}

  WaitingShape* at(const ShapePtr& shape);  // made if there is none
  // Null if it is not known, or not any more.
  const WaitingShape* find(Ordinal ordinal) const;
  const WaitingShape* find(const std::string& encoded) const;
  bool knows(const Shape& shape) const { return all_.contains(shape.encoded); }
  // What to keep in a head: the interned value shared by all waiting jobs with an equal one.
  ShapePtr shared(const ShapePtr& shape) const;
  const ByOrdinal& by_ordinal() const { return by_ordinal_; }

  void add_lane(Lane* lane);
  void remove_lane(Lane* lane);

  size_t size() const { return all_.size(); }
  size_t with_jobs() const { return all_.size() - idle_.size(); }
  // Whether a waiting job has affinity rules about other jobs.
  bool affinity_wanted() const { return with_affinity_ > 0; }

 private:
  Ordinals& ordinals_;
  const WorkerClasses& classes_;
  absl::flat_hash_map<std::string, std::unique_ptr<WaitingShape>> all_;  // by encoded form; never iterated to decide
  ByOrdinal by_ordinal_;
  std::map<uint64_t, WaitingShape*> idle_;  // shapes without lanes, longest idle first
  uint64_t idle_count_ = 0;
  size_t with_affinity_ = 0;  // shapes with lanes and affinity rules
};

}  // namespace hodei::core

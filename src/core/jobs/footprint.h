// How much memory live jobs use, in bytes: what each job has of its own, and what equal jobs share, counted once.
#pragma once

#include <cstddef>

#include "absl/container/flat_hash_map.h"
#include "src/core/jobs/job.h"

namespace hodei::core {

class Footprint {
 public:
  // The size of a head, its history and its index entries, without what it shares with others.
  static size_t own_bytes(const JobHead& head);

  void add(const JobHead& head, size_t own);
  void remove(const JobHead& head, size_t own);

  size_t bytes() const { return own_ + shared_; }

 private:
  template <class Thing>
  void take(const std::shared_ptr<const Thing>& thing);
  template <class Thing>
  void release(const std::shared_ptr<const Thing>& thing);

  size_t own_ = 0;
  size_t shared_ = 0;
  absl::flat_hash_map<const void*, size_t> users_;  // never iterated
};

size_t bytes_of(const Shape& shape);
size_t bytes_of(const Labels& labels);

}  // namespace hodei::core

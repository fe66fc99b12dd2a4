#include "src/server/spec_cache.h"

namespace hodei::server {
namespace {

// What it takes, with its places in the list and the index.
constexpr size_t kOverhead = 160;

size_t cost(const core::SpecRow& spec) {
  return sizeof(spec) + kOverhead + spec.bytes.size() + spec.name.size() + spec.correlation_id.size() +
         64 * spec.labels.size();
}

}  // namespace

void SpecCache::put(std::shared_ptr<const core::SpecRow> spec) {
  const JobId job = spec->job;
  drop(job);
  bytes_ += cost(*spec);
  index_[job] = order_.insert(order_.end(), std::move(spec));
  while (bytes_ > kMaxBytes && !order_.empty()) drop(order_.front()->job);
}

std::shared_ptr<const core::SpecRow> SpecCache::find(JobId job) const {
  const auto it = index_.find(job);
  return it == index_.end() ? nullptr : *it->second;
}

void SpecCache::drop(JobId job) {
  const auto it = index_.find(job);
  if (it == index_.end()) return;
  bytes_ -= cost(**it->second);
  order_.erase(it->second);
  index_.erase(it);
}

}  // namespace hodei::server

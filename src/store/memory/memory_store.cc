#include "src/store/memory/memory_store.h"

#include <algorithm>

#include "src/base/status.h"
#include "src/store/refusals.h"

namespace hodei::store {

using core::Write;

MemoryStore::MemoryStore(const MemoryStore& other) {
  const std::lock_guard lock(other.mutex_);
  tables_ = other.tables_;
  fault_ = other.fault_;
}

MemoryStore& MemoryStore::operator=(const MemoryStore& other) {
  if (this == &other) return *this;
  const std::scoped_lock lock(mutex_, other.mutex_);
  tables_ = other.tables_;
  fault_ = other.fault_;
  return *this;
}

absl::StatusOr<Epoch> MemoryStore::new_epoch() {
  const std::lock_guard lock(mutex_);
  return Epoch{++tables_.epoch};
}

absl::Status MemoryStore::commit(const core::Writes& writes, Epoch epoch, BatchNo batch_no) {
  Batch batch;
  RETURN_IF_ERROR(batch.fold(writes));
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(check_turn({Epoch{tables_.epoch}, BatchNo{tables_.batch}}, {epoch, batch_no}));
  RETURN_IF_ERROR(tables_.check(batch));

  const std::optional<CommitFault> fault = std::exchange(fault_, std::nullopt);
  if (fault == CommitFault::DiskFull) return absl::ResourceExhaustedError("disk full (injected); nothing was written");
  if (fault != CommitFault::LostBefore) {
    for (const Write& write : writes) tables_.apply(write);
    tables_.batch = static_cast<uint64_t>(batch_no);
  }
  if (fault.has_value()) return absl::UnavailableError("the store went away during a commit (injected)");
  return absl::OkStatus();
}

absl::StatusOr<BatchNo> MemoryStore::last_batch() {
  const std::lock_guard lock(mutex_);
  return BatchNo{tables_.batch};
}

absl::Status MemoryStore::load(const LoadVisitor& visit) {
  const MemoryTables all = tables();  // the visitor may call back
  if (all.scheduler) visit(core::PutScheduler{*all.scheduler});
  if (all.next_job) visit(core::PutNextJob{*all.next_job});
  if (!all.audit.empty()) visit(core::PutAudit{all.audit.rbegin()->second});
  for (const auto& [key, row] : all.settings) visit(core::PutSetting{row});
  for (const auto& [key, row] : all.secrets) visit(core::PutSecret{row});
  for (const auto& [key, row] : all.templates) visit(core::PutTemplate{row});
  for (const auto& [key, row] : all.key_limits) visit(core::PutKeyLimit{row});
  for (const auto& [key, row] : all.otps) visit(core::PutOtp{row});
  std::vector<core::IdempotencyRow> keys;
  for (const auto& [key, row] : all.idempotency) keys.push_back(row);
  std::stable_sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.expires > b.expires; });
  for (const core::IdempotencyRow& row : keys) visit(core::PutIdempotency{row});
  for (const auto& [id, worker] : all.workers) visit(core::PutWorker{worker});
  for (const auto& [id, job] : all.hot) visit(core::PutJob{job});
  return absl::OkStatus();
}

void MemoryStore::fail_next_commit(CommitFault fault) {
  const std::lock_guard lock(mutex_);
  fault_ = fault;
}

MemoryTables MemoryStore::tables() const {
  const std::lock_guard lock(mutex_);
  return tables_;
}

}  // namespace hodei::store

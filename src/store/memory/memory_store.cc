#include "src/store/memory/memory_store.h"

#include <algorithm>
#include <functional>
#include <type_traits>

#include "src/base/status.h"
#include "src/store/refusals.h"

namespace hodei::store {

using core::Write;

namespace {

template <class Row>
void load_rows(const RowMap<Row>& rows, const LoadVisitor& visit) {
  using Type = core::RowType<Row>;
  std::vector<std::shared_ptr<const Row>> loaded;
  for (const auto& [key, row] : rows) loaded.push_back(row);
  if constexpr (Type::loading == core::Loading::LastKeyOnly) {
    if (loaded.size() > 1) loaded.erase(loaded.begin(), loaded.end() - 1);
  } else if constexpr (!std::is_null_pointer_v<std::remove_const_t<decltype(Type::load_by)>>) {
    std::ranges::stable_sort(loaded, std::greater(), [](const auto& row) { return (*row).*Type::load_by; });
  }
  for (const std::shared_ptr<const Row>& row : loaded) visit(core::Put<Row>(row));
}

}  // namespace

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

absl::StatusOr<Epoch> MemoryStore::epoch() {
  const std::lock_guard lock(mutex_);
  return Epoch{tables_.epoch};
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
  core::each_type(core::AllRows{}, [&]<class Row>(std::type_identity<Row>) { load_rows<Row>(all.of<Row>(), visit); });
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

// Stores samples in a separate SQLite database. If it is lost, only curves are lost, and its writes never delay a
// commit of jobs.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "src/store/metrics_store.h"
#include "src/store/sqlite/connection.h"

namespace hodei::store {

class SqliteMetricsStore final : public MetricsStore {
 public:
  // Rows that one transaction forgets; readers and the disk get their turn in between.
  static constexpr int kForgetAtOnce = 10'000;

  static absl::StatusOr<std::unique_ptr<SqliteMetricsStore>> open(const std::string& data_dir);

  absl::Status append(const std::vector<MetricSample>& samples) override;
  absl::Status forget_before(WallTime limit) override;
  absl::Status read(const MetricQuery& query, const SampleVisitor& visit) override;

 private:
  SqliteMetricsStore(Connection writer, Connection reader) : writer_(std::move(writer)), reader_(std::move(reader)) {}
  absl::Status prepare();
  absl::StatusOr<int64_t> number_of(const WorkerId& worker);
  absl::StatusOr<std::vector<std::pair<int64_t, WorkerId>>> workers(const MetricQuery& query);
  absl::StatusOr<bool> read_worker(int64_t number, const WorkerId& worker, const MetricQuery& query,
                                   const SampleVisitor& visit);

  Connection writer_;
  Statement insert_, number_, forget_;
  std::mutex reading_;  // guards what is below: readers take turns
  Connection reader_;
  Statement names_, select_;
};

}  // namespace hodei::store

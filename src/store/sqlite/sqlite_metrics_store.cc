#include "src/store/sqlite/sqlite_metrics_store.h"

#include <algorithm>

#include "src/base/finite.h"
#include "src/base/status.h"

namespace hodei::store {
namespace {

// Rows come in the order of time, so the oldest are the lowest numbers: forgetting needs no index of its own.
constexpr const char* kSchema =
    "CREATE TABLE IF NOT EXISTS worker (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE IF NOT EXISTS sample (id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, worker INTEGER NOT "
    "NULL, "
    "job INTEGER NOT NULL, cpu REAL NOT NULL, memory INTEGER NOT NULL, network_rx REAL NOT NULL, network_tx REAL NOT "
    "NULL, "
    "disk_read REAL NOT NULL, disk_write REAL NOT NULL);"
    "CREATE INDEX IF NOT EXISTS sample_by_worker ON sample (worker, job, at);";

constexpr double kMostRate = 1e18;  // bytes a second; what an older version stored beyond that is no measurement

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteMetricsStore>> SqliteMetricsStore::open(const std::string& data_dir) {
  const std::string path = data_dir + "/metrics.db";
  ASSIGN_OR_RETURN(Connection writer, Connection::open({.path = path}));
  RETURN_IF_ERROR(writer.run("PRAGMA journal_mode = WAL"));
  RETURN_IF_ERROR(writer.run("PRAGMA synchronous = NORMAL"));
  RETURN_IF_ERROR(writer.run(kSchema));
  ASSIGN_OR_RETURN(Connection reader, Connection::open({.path = path, .read_only = true}));
  std::unique_ptr<SqliteMetricsStore> store(new SqliteMetricsStore(std::move(writer), std::move(reader)));
  RETURN_IF_ERROR(store->prepare());
  return store;
}

absl::Status SqliteMetricsStore::prepare() {
  ASSIGN_OR_RETURN(
      insert_, writer_.prepare("INSERT INTO sample (at, worker, job, cpu, memory, network_rx, network_tx, disk_read, "
                               "disk_write) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  ASSIGN_OR_RETURN(number_,
                   writer_.prepare("INSERT INTO worker (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET name = name "
                                   "RETURNING id"));
  ASSIGN_OR_RETURN(
      forget_,
      writer_.prepare("DELETE FROM sample WHERE id IN (SELECT id FROM sample ORDER BY id LIMIT ?) AND at < ?"));
  ASSIGN_OR_RETURN(names_, reader_.prepare("SELECT id, name FROM worker ORDER BY name"));
  ASSIGN_OR_RETURN(select_,
                   reader_.prepare("SELECT at, cpu, memory, network_rx, network_tx, disk_read, disk_write FROM sample "
                                   "WHERE worker = ? AND job = ? AND at >= ? AND at < ? ORDER BY at, id"));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SqliteMetricsStore::number_of(const WorkerId& worker) {
  const InUse use(number_);
  number_.text(worker.str());
  ASSIGN_OR_RETURN(const bool found, number_.step());
  if (!found) return absl::InternalError("the table `worker` of metrics.db gives no number");
  return number_.integer();
}

absl::Status SqliteMetricsStore::append(const std::vector<MetricSample>& samples) {
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::write(writer_));
  std::map<WorkerId, int64_t> numbers;
  for (const MetricSample& s : samples) {
    if (!numbers.contains(s.worker)) {
      ASSIGN_OR_RETURN(numbers[s.worker], number_of(s.worker));
    }
    insert_.integer(s.at.us);
    insert_.integer(numbers[s.worker]);
    insert_.integer(static_cast<int64_t>(number(s.job)));
    insert_.real(s.cpu);
    insert_.integer(s.memory_bytes);
    for (const double rate : {s.network_rx, s.network_tx, s.disk_read, s.disk_write}) insert_.real(rate);
    RETURN_IF_ERROR(insert_.run().status());
  }
  return transaction.commit();
}

absl::Status SqliteMetricsStore::forget_before(WallTime limit) {
  int gone = kForgetAtOnce;
  while (gone == kForgetAtOnce) {
    forget_.integer(kForgetAtOnce);
    forget_.integer(limit.us);
    ASSIGN_OR_RETURN(gone, forget_.run());
  }
  return writer_.run("DELETE FROM worker WHERE NOT EXISTS (SELECT 1 FROM sample WHERE sample.worker = worker.id)");
}

absl::StatusOr<std::vector<std::pair<int64_t, WorkerId>>> SqliteMetricsStore::workers(const MetricQuery& query) {
  const InUse use(names_);
  std::vector<std::pair<int64_t, WorkerId>> out;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, names_.step());
    if (!found) return out;
    const int64_t number = names_.integer();
    WorkerId worker{std::string(names_.text())};
    const bool wanted = query.workers.empty() || std::count(query.workers.begin(), query.workers.end(), worker) > 0;
    if (wanted) out.emplace_back(number, std::move(worker));
  }
}

absl::Status SqliteMetricsStore::read(const MetricQuery& query, const SampleVisitor& visit) {
  const std::lock_guard lock(reading_);
  ASSIGN_OR_RETURN(const auto found, workers(query));
  for (const auto& [number, worker] : found) {
    ASSIGN_OR_RETURN(const bool more, read_worker(number, worker, query, visit));
    if (!more) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> SqliteMetricsStore::read_worker(int64_t number, const WorkerId& worker, const MetricQuery& query,
                                                     const SampleVisitor& visit) {
  const InUse use(select_);
  select_.integer(number);
  select_.integer(static_cast<int64_t>(hodei::number(query.job)));
  select_.integer(query.from.us);
  select_.integer(query.until.us);
  while (true) {
    ASSIGN_OR_RETURN(const bool found, select_.step());
    if (!found) return true;
    MetricSample s;
    s.at.us = select_.integer();
    s.worker = worker;
    s.job = query.job;
    s.cpu = bounded(select_.real(), 0, kMostCores, 0);
    s.memory_bytes = select_.integer();
    for (double* rate : {&s.network_rx, &s.network_tx, &s.disk_read, &s.disk_write})
      *rate = bounded(select_.real(), 0, kMostRate, 0);
    if (!visit(s)) return false;
  }
}

}  // namespace hodei::store

// Writes and reads the rows of jobs, column by column, in the order of tables.h. A backend provides the next column to
// write or read. All other rows use their descriptors (core/rows/row.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "src/core/writes.h"
#include "src/store/tables.h"

namespace hodei::store {

using core::pack;
using core::RowIn;
using core::RowOut;
using core::unpack_hash;

// Equal shapes, names and labels, one object each.
class ShapePool {
 public:
  core::ShapePtr get(std::string_view encoded);  // empty: null
  Namespace name(std::string_view ns);
  core::LabelsPtr shared(const core::LabelsPtr& labels);  // null: null

 private:
  std::map<std::string, core::ShapePtr, std::less<>> shapes_;
  std::map<std::string, Namespace, std::less<>> names_;
  std::map<core::Labels, core::LabelsPtr> labels_;
};

void write_spec(const core::SpecRow& spec, RowOut& out);
void write_live(const core::JobHead& job, RowOut& out);      // job_hot
void write_finished(const core::JobHead& job, RowOut& out);  // job_done
void write_label(JobId job, const std::string& key, const std::string& value, RowOut& out);
void write_execution(JobId job, const core::ArchivedExecution& archived, RowOut& out);

core::SpecRow read_spec(RowIn& in);
// `second` receives the column in which job_hot and job_done differ.
std::shared_ptr<core::JobHead> read_job(RowIn& in, ShapePool& shapes, int64_t& second);
// `number` and `log_bytes` are part of the bytes.
core::ArchivedExecution read_execution(RowIn& in);

// Values packed into one column.
std::string pack(const core::Labels& labels);
core::Labels unpack_labels(std::string_view bytes);
std::string pack(const core::SchedulerConfig& config);
core::SchedulerConfig unpack_scheduler(std::string_view bytes);
// What a label is found by: see kJobLabel.
int64_t label_hash(const std::string& key, const std::string& value);
inline int64_t block_of(JobId job) { return static_cast<int64_t>(number(job) >> kBlockBits); }
// Every field of a job that has no column of its own.
std::string pack_details(const core::JobHead& job);
void unpack_details(std::string_view bytes, core::JobHead& job);

}  // namespace hodei::store

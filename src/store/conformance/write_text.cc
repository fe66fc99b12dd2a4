#include "src/store/conformance/write_text.h"

#include "fmt/format.h"
#include "src/base/status.h"
#include "src/core/rows/row.h"

namespace hodei::store {
namespace {

using namespace core;

// Readable where it can be, exact always.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    byte >= 0x20 && byte < 0x7f ? out.push_back(c) : static_cast<void>(out += fmt::format("\\x{:02x}", byte));
  }
  return out + "'";
}

std::string text_of(const Labels& labels) {
  std::string out;
  for (const auto& [key, value] : labels) out += in_quotes(key) + "=" + in_quotes(value) + " ";
  return out;
}

// A row column by column, as it is stored.
class RowText final : public RowOut {
 public:
  void name(std::string_view column) { out_ += fmt::format(" {}=", column); }
  void integer(int64_t value) override { out_ += fmt::format("{}", value); }
  void real(double value) override { out_ += fmt::format("{}", value); }
  void text(std::string_view value) override { out_ += in_quotes(value); }
  void bytes(std::string_view value) override { out_ += in_quotes(value); }
  void packed(std::string&& value) override { out_ += in_quotes(value); }
  void null() override { out_ += "null"; }
  const std::string& str() const { return out_; }

 private:
  std::string out_;
};

struct Describe {
  std::string operator()(const PutSpec& w) const { return "spec " + to_text(*w.spec); }
  std::string operator()(const PutJob& w) const { return "job " + to_text(*w.job); }
  std::string operator()(const FinishJob& w) const { return "finish " + to_text(*w.job); }
  std::string operator()(const PutExecution& w) const {
    return fmt::format("execution of {}: {}", number(w.job), in_quotes(encode(*w.archived)));
  }
  std::string operator()(const DropExecutions& w) const {
    return fmt::format("drop executions of {} below {}", number(w.job), w.below);
  }
  std::string operator()(const EraseJob& w) const { return fmt::format("erase {}", number(w.job)); }
  template <class Row>
  std::string operator()(const Put<Row>& w) const {
    RowText text;
    each_column<Row>([&](const auto& column) {
      text.name(column.name);
      column.write(*w.row, text);
    });
    return cat("put ", RowType<Row>::table, text.str());
  }
  template <class Row>
  std::string operator()(const Erase<Row>& w) const {
    RowText text;
    write_key<Row>(w.key, text);
    return cat("erase ", RowType<Row>::table, " ", text.str());
  }
  std::string operator()(const ExpireIdempotency& w) const { return fmt::format("expire before {}", w.before.us); }
  std::string operator()(const EraseIdempotency& w) const {
    return fmt::format("erase idempotency {:016x}{:016x} of job={}", w.key.high, w.key.low, number(w.job));
  }
  std::string operator()(const PutScheduler& w) const {
    const SchedulerConfig& c = w.config;
    return fmt::format("scheduler {} {} {} {} {} {} {} {} {} {}", static_cast<int>(c.strategy), c.capacity, c.load,
                       c.affinity, c.zone, c.history, c.threshold, static_cast<int>(c.packing), c.preemption,
                       c.reserve_after.count());
  }
  std::string operator()(const ExpireAudit& w) const { return fmt::format("expire audit before {}", w.before.us); }
  std::string operator()(const PutNextJob& w) const { return fmt::format("next job {}", w.next); }
};

}  // namespace

std::string to_text(const JobHead& j) {
  return fmt::format(
      "{} ns={} {} priority={} retry={} secrets={} cancel={} timeout={} requeue={} labels={} executions={} "
      "attempts={}/{} lost={} limits={}/{} "
      "backoff={}/{}/{} created={} not_before={} key={} worker={} shape={} past={}",
      number(j.id), in_quotes(j.ns.str()), name(j.state), static_cast<int>(j.priority), j.allow_retry,
      j.secrets == nullptr ? "none" : in_quotes(*j.secrets), j.cancel_requested, j.timeout_requested,
      static_cast<int>(j.requeue), j.labels == nullptr ? "none" : text_of(*j.labels), j.executions, j.attempts,
      j.max_attempts, j.lost_dispatches, j.timeout.count(), j.grace.count(), j.backoff.initial.count(),
      j.backoff.max.count(), j.backoff.factor, j.created.us, j.not_before.us, in_quotes(j.concurrency_key),
      in_quotes(j.worker.str()), j.shape == nullptr ? "none" : in_quotes(encode(*j.shape)),
      j.past == nullptr ? "none" : in_quotes(encode(*j.past)));
}

std::string to_text(const SpecRow& s) {
  return fmt::format("{} ns={} name={} labels={} correlation={} template={} retry_of={} bytes={}", number(s.job),
                     in_quotes(s.ns), in_quotes(s.name), text_of(s.labels), in_quotes(s.correlation_id),
                     in_quotes(s.template_name), number(s.retry_of), in_quotes(s.bytes));
}

std::string to_text(const Write& write) { return std::visit(Describe{}, write); }

std::string to_text(const JobView& view) {
  return fmt::format("{} | {} | ended={}", to_text(view.head), to_text(view.spec), view.ended.us);
}

std::vector<std::string> load_text(Store& store) {
  std::vector<std::string> out;
  const absl::Status status = store.load([&](const Write& write) { out.push_back(to_text(write)); });
  if (!status.ok()) out.push_back(status.ToString());
  return out;
}

std::vector<std::string> history_text(Reader& reader) {
  std::vector<std::string> out;
  const auto jobs = reader.jobs({.limit = SIZE_MAX});
  if (!jobs.ok()) return {jobs.status().ToString()};
  for (const JobView& listed : jobs->jobs) {
    const auto job = reader.job(listed.head.id);
    out.push_back(job.ok() ? to_text(*job) : job.status().ToString());
    const auto archived = reader.archived_executions({.job = listed.head.id, .limit = SIZE_MAX});
    if (!archived.ok()) out.push_back(archived.status().ToString());
    for (const ArchivedExecution& one : archived.value_or(std::vector<ArchivedExecution>()))
      out.push_back(in_quotes(encode(one)));
  }
  return out;
}

}  // namespace hodei::store

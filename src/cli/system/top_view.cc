#include "src/cli/system/top_view.h"

#include "src/base/finite.h"
#include "src/base/text.h"
#include "src/cli/output/table.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli {
namespace {

std::string rate(double bytes_per_second) {
  return cat(human_bytes(bounded_whole(bytes_per_second, 0, INT64_MAX)), "/s");
}

std::string head_line(const v1::QueueStatus& queue) {
  return cat(queue.workers_available(), " of ", queue.workers(), " workers available, ",
             queue.slots() - queue.slots_free(), " of ", queue.slots(), " slots in use, ", queue.running(),
             " running, ", queue.scheduled(), " scheduled, ", queue.pending(), " pending");
}

Table worker_rows(const TopData& data) {
  Table table({"WORKER", "STATE", "SLOTS", "CPU", "MEMORY", "NET IN", "NET OUT", "DISK READ", "DISK WRITE"});
  for (const v1::Worker& worker : data.workers.workers()) {
    const std::string state = worker.unhealthy()                        ? "unhealthy"
                              : worker.stopped() && !worker.connected() ? "stopped"
                                                                        : v1::Worker::State_Name(worker.state());
    const auto found = data.of_workers.find(worker.info().id());
    const bool live = found != data.of_workers.end();
    const double load = live ? found->second.cpu() : worker.cpu_load();
    const int64_t memory = live ? found->second.memory_bytes() : worker.memory_used_mb() << 20;
    std::vector<Table::Cell> row = {printable(worker.info().id()),
                                    {state, worker.unhealthy() ? Colour::Red : colour_of_state(state)},
                                    cat(worker.executions_size(), "/", worker.info().slots()),
                                    fmt::format("{:.0f} %", load * 100),
                                    human_bytes(memory)};
    if (live) {
      const v1::MetricSample& s = found->second;
      for (const double each : {s.network_rx_bytes_per_second(), s.network_tx_bytes_per_second(),
                                s.disk_read_bytes_per_second(), s.disk_write_bytes_per_second()}) {
        row.emplace_back(rate(each));
      }
    } else {
      for (int i = 0; i < 4; ++i) row.emplace_back("-");
    }
    table.add(std::move(row));
  }
  return table;
}

Table job_rows(const TopData& data, const ViewOptions& options) {
  Table table({"JOB", "NAME", "STATE", "WORKER", "FOR", "PROGRESS", "CPU", "MEMORY"});
  for (const v1::Job& job : data.jobs.jobs()) {
    const std::string state = v1::Job::State_Name(job.state());
    const auto found = data.of_jobs.find(job.short_id());
    const bool live = found != data.of_jobs.end();
    table.add({job.short_id(),
               printable(job.name()),
               {state, colour_of_state(state)},
               printable(job.worker_id()),
               age(job.has_started_at() ? job.started_at() : job.created_at(), options.now),
               job.has_progress() ? fmt::format("{:.0f} %", job.progress().percentage()) : std::string("-"),
               live ? fmt::format("{:.2f}", found->second.cpu()) : std::string("-"),
               live ? human_bytes(found->second.memory_bytes()) : std::string("-")});
  }
  return table;
}

}  // namespace

std::string top_page(const TopData& data, const ViewOptions& options) {
  std::string out = cat(paint("Hodei", Colour::Bold, options.style.colours), "  ", head_line(data.queue), "\n\n");
  out += worker_rows(data).text(options.style);
  const Table jobs = job_rows(data, options);
  out += jobs.empty() ? "\nnothing is running\n" : cat("\n", jobs.text(options.style));
  return out;
}

}  // namespace hodei::cli

#include "src/cli/worker/worker_view.h"

#include <map>

#include "src/base/text.h"
#include "src/cli/output/table.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli {
namespace {

std::string dash_if_empty(std::string text) { return text.empty() ? std::string("-") : text; }

// Health is a condition beside the state; people want the worse of the two.
std::string condition(const v1::Worker& worker) {
  const std::string state = v1::Worker::State_Name(worker.state());
  if (worker.unhealthy()) return state + ", unhealthy";
  if (worker.stopped()) return worker.connected() ? state + ", stops" : "stopped";
  if (worker.has_paused_until()) return state + ", paused";
  const bool alive = worker.state() == v1::Worker::Ready || worker.state() == v1::Worker::Busy;
  return alive && !worker.connected() ? state + ", away" : state;
}

Colour condition_colour(const v1::Worker& worker) {
  return worker.unhealthy() ? Colour::Red : colour_of_state(v1::Worker::State_Name(worker.state()));
}

std::string labels(const v1::WorkerInfo& info) {
  std::map<std::string, std::string> sorted(info.labels().begin(), info.labels().end());
  std::string out;
  for (const auto& [key, value] : sorted) out += cat(out.empty() ? "" : ", ", key, "=", value);
  return out;
}

std::string taints(const v1::WorkerInfo& info) {
  std::string out;
  for (const v1::Taint& taint : info.taints()) {
    out += cat(out.empty() ? "" : ", ", taint.key(), taint.value().empty() ? "" : "=", taint.value(), ":",
               v1::Taint::Effect_Name(taint.effect()));
  }
  return out;
}

template <class List>
std::string comma_list(const List& list) {
  std::string out;
  for (const std::string& one : list) out += (out.empty() ? "" : ", ") + one;
  return out;
}

std::string usage(const v1::Worker& worker) { return cat(worker.executions_size(), "/", worker.info().slots()); }

}  // namespace

std::string worker_table(const v1::ListWorkersResponse& workers, const ViewOptions& options) {
  std::vector<std::string> headers = {"ID",   "NAME", "STATE",  "PROVIDER", "POOL",   "SLOTS",
                                      "LOAD", "DONE", "FAILED", "SEEN",     "LABELS", "TAINTS"};
  if (options.wide) {
    for (const char* more : {"HOST", "CPU", "MEMORY", "IMAGE", "VERSION", "CAPABILITIES"}) headers.emplace_back(more);
  }
  Table table(headers);
  table.may_leave_out({"TAINTS", "LABELS", "POOL", "FAILED", "DONE"});
  for (const v1::Worker& worker : workers.workers()) {
    const v1::WorkerInfo& info = worker.info();
    std::vector<Table::Cell> row = {
        info.id(),
        dash_if_empty(info.name()),
        {condition(worker), condition_colour(worker)},
        dash_if_empty(info.provider()),
        dash_if_empty(worker.pool()),
        usage(worker),
        fmt::format("{:.0f} %", worker.cpu_load() * 100),
        cat(worker.succeeded()),
        cat(worker.failed()),
        wall_time(worker.last_seen_at()).is_set() ? age(worker.last_seen_at(), options.now) : "-",
        dash_if_empty(labels(info)),
        dash_if_empty(taints(info))};
    if (options.wide) {
      row.emplace_back(dash_if_empty(info.hostname()));
      row.emplace_back(cat(info.capacity().cpu_cores()));
      row.emplace_back(human_bytes(info.capacity().memory_mb() << 20));
      row.emplace_back(dash_if_empty(printable(info.image())));
      row.emplace_back(dash_if_empty(info.version()));
      row.emplace_back(dash_if_empty(comma_list(info.capabilities())));
    }
    table.add(std::move(row));
  }
  return table.text(options.style);
}

std::string worker_page(const v1::Worker& worker, const ViewOptions& options) {
  const v1::WorkerInfo& info = worker.info();
  FieldList fields;
  fields.add("Name", info.name());
  fields.add("State", condition(worker), condition_colour(worker));
  fields.add("Unhealthy", worker.unhealthy_reason(), Colour::Red);
  if (wall_time(worker.ended_at()).is_set()) {
    fields.add("Ended", cat(age(worker.ended_at(), options.now), " ago: ", printable(worker.end_reason())));
  } else {
    fields.add("Leaves", printable(worker.end_reason()));
  }
  if (worker.stopped() && !worker.connected())
    fields.add("Stopped", "it reconnects with its session when it is started again");
  if (worker.has_paused_until())
    fields.add("Paused", "it did not start the last job it was given and gets no jobs for a while");
  fields.add("Slots", cat(usage(worker), " in use"));
  fields.add("Executions", comma_list(worker.executions()));
  fields.add("Load",
             fmt::format("{:.0f} % of {} cores, {} of {}", worker.cpu_load() * 100, info.capacity().cpu_cores(),
                         human_bytes(worker.memory_used_mb() << 20), human_bytes(info.capacity().memory_mb() << 20)));
  fields.add("Done", cat(worker.succeeded(), " succeeded, ", worker.failed(), " failed"));
  fields.add("Lost lines", worker.dropped_logs() > 0 ? cat(worker.dropped_logs()) : std::string());
  fields.add("Labels", labels(info));
  fields.add("Taints", taints(info));
  fields.add("Capabilities", comma_list(info.capabilities()));
  fields.add("Host", cat(info.hostname(), info.ip().empty() ? "" : " ", info.ip()));
  fields.add("System", cat(info.os(), " ", info.architecture()));
  fields.add("Provider", cat(info.provider(),
                             worker.provider_ref().empty() ? "" : cat(" (", printable(worker.provider_ref()), ")")));
  fields.add("Pool", worker.pool());
  fields.add("Created for", worker.made_for());
  fields.add("Serves",
             worker.serves_namespace().empty() ? "" : cat("namespace ", printable(worker.serves_namespace()), " only"));
  fields.add("Jobs", worker.one_job() ? "one, then it is removed" : "");
  fields.add("Image", info.image());
  fields.add("Version", info.version());
  if (wall_time(worker.registered_at()).is_set())
    fields.add("Registered", cat(age(worker.registered_at(), options.now), " ago"));
  if (wall_time(worker.last_seen_at()).is_set()) {
    fields.add("Seen",
               cat(age(worker.last_seen_at(), options.now), " ago", worker.connected() ? "" : ", not connected now"));
  }
  return cat(paint(cat("Worker ", info.id()), Colour::Bold, options.style.colours), "\n", fields.text(options.style));
}

std::string expiry(const v1::CreateOtpResponse& otp, const Style& style) {
  return shown_time(wall_time(otp.expires_at()), style);
}

}  // namespace hodei::cli

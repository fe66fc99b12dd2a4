#include "src/cli/job/job_view.h"

#include <map>

#include "src/base/counted.h"
#include "src/base/finite.h"
#include "src/base/text.h"
#include "src/cli/job/phases.h"
#include "src/cli/output/columns.h"
#include "src/cli/output/table.h"
#include "src/cli/terminal/exit_code.h"
#include "src/cli/text/quantities.h"

namespace hodei::cli {
namespace {

using google::protobuf::Timestamp;

constexpr size_t kLongestName = 40;
constexpr size_t kLongestReason = 60;

std::string state_name(v1::Job::State state) {
  return state == v1::Job::STATE_UNSPECIFIED ? std::string("-") : v1::Job::State_Name(state);
}

Table::Cell state_cell(v1::Job::State state) { return {state_name(state), colour_of_state(state_name(state))}; }

std::string or_dash(std::string text) { return text.empty() ? std::string("-") : text; }

// From the start to the end, or until now.
std::string running_time(const Timestamp& start, const Timestamp& end, WallTime now) {
  const WallTime from = wall_time(start);
  if (!from.is_set()) return "-";
  return human_duration((wall_time(end).is_set() ? wall_time(end) : now) - from);
}

// By the clock of its worker: what happened between the end of the execution and its report is not run time.
std::string running_time(const v1::Job& job, WallTime now) {
  if (job.has_run_ms()) return human_duration(std::chrono::milliseconds(job.run_ms()));
  return running_time(job.started_at(), job.ended_at(), now);
}

template <class Ended>  // Job or Execution
std::string ending(const Ended& ended) {
  if (ended.signal() > 0) return cat("signal ", ended.signal());
  return ended.has_exit_code() ? cat(ended.exit_code()) : std::string("-");
}

std::string time_and_age(const Timestamp& time, const ViewOptions& options) {
  const WallTime at = wall_time(time), now = options.now;
  if (!at.is_set()) return {};
  return at > now ? cat(shown_time(at, options.style), " (in ", human_duration(at - now), ")")
                  : cat(shown_time(at, options.style), " (", human_duration(now - at), " ago)");
}

template <class Map>
std::string label_pairs(const Map& map) {
  std::map<std::string, std::string> sorted(map.begin(), map.end());
  std::string out;
  for (const auto& [key, value] : sorted) out += cat(out.empty() ? "" : ", ", key, "=", value);
  return out;
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-=:,@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// "5 MiB", and what of it was not kept.
std::string output_of(const v1::Execution& e) {
  const std::string all = human_bytes(e.log_bytes());
  return e.dropped_bytes() > 0 ? cat(all, " (", human_bytes(e.dropped_bytes()), " dropped)") : all;
}

std::string executions_table(const v1::Job& job, const ViewOptions& options) {
  Table table(
      {"EXECUTION", "STATE", "WORKER", "PROVIDER", "STARTED", "TIME", "EXIT", "CPU", "MEMORY", "OUTPUT", "REASON"});
  for (const v1::Execution& e : job.executions()) {
    const WallTime started = wall_time(e.started_at());
    const bool put_back = e.state() == v1::Job::Pending;  // the job went back into the queue
    table.add({e.id(), put_back ? Table::Cell("Requeued", Colour::Yellow) : state_cell(e.state()),
               or_dash(e.worker_id()), or_dash(e.provider()),
               started.is_set() ? shown_time(started, options.style) : std::string("-"),
               running_time(e.started_at(), e.ended_at(), options.now), ending(e),
               human_duration(std::chrono::milliseconds(e.usage().cpu_ms())),
               e.usage().max_memory_kb() == 0 ? "-" : human_bytes(e.usage().max_memory_kb() * 1024), output_of(e),
               e.reason()});
  }
  return table.text(options.style, 2);
}

std::string history_table(const v1::Job& job, const ViewOptions& options) {
  Table table({"TIME", "FROM", "TO", "EXECUTION", "REASON"});
  for (const v1::Transition& t : job.history()) {
    table.add({shown_time(wall_time(t.at()), options.style), state_name(t.from()), state_cell(t.to()),
               or_dash(t.execution_id()), t.reason()});
  }
  return table.text(options.style, 2);
}

std::string amounts(const v1::Resources& resources) {
  std::string out;
  const auto add = [&out](const std::string& amount) { out += cat(out.empty() ? "" : ", ", amount); };
  if (const int64_t milli = milli_cores(resources.cpu_cores()); milli > 0) add(cat("cpu ", exact_cores(milli)));
  if (resources.memory_mb() > 0) add(cat("memory ", human_bytes(resources.memory_mb() << 20)));
  if (resources.storage_mb() > 0) add(cat("storage ", human_bytes(resources.storage_mb() << 20)));
  if (resources.pids() > 0) add(cat(resources.pids(), " processes"));
  if (resources.gpu_required()) add("a GPU");
  return out;
}

void add_spec(FieldList& fields, const v1::JobSpec& spec) {
  fields.add("Command", command_line(spec.command()));
  fields.add("Limits", amounts(spec.resources()));
  fields.add("Image", spec.image());
  fields.add("Folder", spec.working_dir());
  if (spec.timeout_ms() > 0) fields.add("Time limit", exact_duration(std::chrono::milliseconds(spec.timeout_ms())));
  if (spec.preferences().priority() != 0) {
    fields.add("Priority", v1::Preferences::Priority_Name(spec.preferences().priority()));
  }
  fields.add("Pool", spec.constraints().pool());
  fields.add("Provider", spec.constraints().provider());
  if (!spec.concurrency().key().empty()) {
    fields.add("Concurrency", spec.concurrency().limit() > 0
                                  ? cat(spec.concurrency().key(), ", at most ", spec.concurrency().limit())
                                  : spec.concurrency().key());
  }
}

void add_detail(FieldList& fields, const v1::Execution& newest) {
  std::string secrets;
  for (const std::string& name : newest.secrets()) secrets += cat(secrets.empty() ? "" : ", ", name);
  fields.add("Secrets", secrets);
  if (newest.dropped_bytes() > 0) {
    fields.add("Not kept",
               cat(human_bytes(newest.dropped_bytes()), " of output, ", counted(newest.dropped_lines(), "line")));
  }
  const v1::Usage& usage = newest.usage();
  if (usage.io_read_bytes() + usage.io_write_bytes() > 0) {
    fields.add("Disk",
               cat(human_bytes(usage.io_read_bytes()), " read, ", human_bytes(usage.io_write_bytes()), " written"));
  }
}

}  // namespace

WallTime wall_time(const Timestamp& time) { return {time.seconds() * 1'000'000 + time.nanos() / 1000}; }

std::string age(const Timestamp& time, WallTime now) {
  const WallTime at = wall_time(time);
  return at.is_set() ? human_duration(now - at) : std::string("-");
}

std::string command_line(const v1::Command& command) {
  std::string out;
  if (command.has_shell()) {
    out = shell_word(command.shell().cmd());
    for (const std::string& arg : command.shell().args()) out += " " + shell_word(arg);
  } else if (command.has_script()) {
    const v1::ScriptCommand& script = command.script();
    out = cat(script.interpreter().empty() ? "bash" : script.interpreter(), " script of ", script.content().size(),
              " bytes");
    for (const std::string& arg : script.args()) out += " " + shell_word(arg);
  }
  return out;
}

std::string job_table(const std::vector<const v1::Job*>& jobs, const ViewOptions& options) {
  std::vector<std::string> headers = {"ID", "NAME", "STATE", "TRIES", "EXIT", "WORKER", "AGE", "TIME", "REASON"};
  if (options.wide) {
    headers.insert(headers.begin() + 1, "NAMESPACE");
    for (const char* more : {"LABELS", "FULL ID"}) headers.emplace_back(more);
  }
  Table table(headers);
  for (const v1::Job* job : jobs) {
    // In a pipe nothing is cut.
    const bool all = options.wide || options.style.columns == 0;
    const size_t most = all ? SIZE_MAX : kLongestReason;
    std::vector<Table::Cell> row = {job->short_id(),
                                    or_dash(all ? job->name() : fitted(job->name(), kLongestName)),
                                    state_cell(job->state()),
                                    cat(job->attempts(), "/", std::max(job->max_attempts(), 1)),
                                    ending(*job),
                                    or_dash(all ? job->worker_id() : fitted(job->worker_id(), 16)),
                                    age(job->created_at(), options.now),
                                    running_time(*job, options.now),
                                    fitted(job->reason(), most)};
    if (options.wide) {
      row.insert(row.begin() + 1, Table::Cell(job->namespace_()));
      row.emplace_back(or_dash(label_pairs(job->labels())));
      row.emplace_back(job->id());
    }
    table.add(std::move(row));
  }
  return table.text(options.style);
}

std::string job_page(const v1::Job& job, const ViewOptions& options) {
  const std::string state = state_name(job.state());
  FieldList fields;
  fields.add("State", job.cancel_requested() && !has_ended(job.state()) ? cat(state, ", cancel requested") : state,
             colour_of_state(state));
  fields.add("Reason", job.reason());
  fields.add("Failure", job.failure());
  fields.add("What to do", job.suggestion());
  fields.add("Exit", ending(job) == "-" ? "" : ending(job));
  fields.add("Attempts", cat(job.attempts(), " of ", std::max(job.max_attempts(), 1)));
  if (job.has_progress()) {
    fields.add("Progress", cat(fmt::format("{:.0f} % ", job.progress().percentage()), job.progress().message()));
  }
  add_spec(fields, job.spec());
  fields.add("Worker", job.worker_id());
  fields.add("Namespace", job.namespace_());
  fields.add("Labels", label_pairs(job.labels()));
  fields.add("Template", job.template_());
  fields.add("Retry of", job.retry_of());
  fields.add("Created", time_and_age(job.created_at(), options));
  fields.add("Not before", has_ended(job.state()) ? std::string() : time_and_age(job.not_before(), options));
  fields.add("Started", time_and_age(job.started_at(), options));
  fields.add("Ended", time_and_age(job.ended_at(), options));
  if (wall_time(job.started_at()).is_set()) {
    fields.add("Time", running_time(job, options.now));
  }
  fields.add("Phases", phases(job, options.now));
  fields.add("Output", job.output());
  fields.add("Outputs", label_pairs(job.outputs()));
  if (job.executions_size() > 0) add_detail(fields, job.executions(job.executions_size() - 1));
  fields.add("Correlation", job.correlation_id());
  fields.add("Trace", job.trace_id());
  fields.add("Full id", job.id());
  std::string out = cat(paint(cat("Job ", job.short_id()), Colour::Bold, options.style.colours), "  ",
                        printable(job.name()), "\n", fields.text(options.style));
  if (job.executions_size() > 0) {
    out += cat("\n", paint("Executions", Colour::Bold, options.style.colours), "\n", executions_table(job, options));
  }
  if (job.history_size() > 0) {
    out += cat("\n", paint("History", Colour::Bold, options.style.colours), "\n", history_table(job, options));
  }
  return out;
}

std::string event_line(WallTime at, const v1::Transition& transition, const ViewOptions& options) {
  const std::string to = state_name(transition.to());
  return cat(shown_time(at, options.style), "  ",
             paint(fmt::format("{:<9}", to), colour_of_state(to), options.style.colours), "  ",
             transition.execution_id().empty() ? "" : cat(transition.execution_id(), "  "),
             printable(transition.reason()), "\n");
}

}  // namespace hodei::cli

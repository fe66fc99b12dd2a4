#include "src/cli/flags/habits.h"

#include "src/base/text.h"

namespace hodei::cli {
namespace {

struct Habit {
  std::string_view path;  // of the command that got the word
  std::string_view word;
  std::string_view here;
};
constexpr Habit kHabits[] = {
    {"hodei", "ps", "hodei job list"},
    {"hodei", "ls", "hodei job list"},
    {"hodei", "list", "hodei job list"},
    {"hodei", "squeue", "hodei job list"},
    {"hodei", "sbatch", "hodei job submit --script FILE"},
    {"hodei", "srun", "hodei run -- COMMAND"},
    {"hodei", "scancel", "hodei job cancel JOB"},
    {"hodei", "sinfo", "hodei worker list"},
    {"hodei", "submit", "hodei job submit -- COMMAND"},
    {"hodei", "get", "hodei job get JOB, or hodei job list"},
    {"hodei", "describe", "hodei job get JOB"},
    {"hodei", "logs", "hodei job logs JOB"},
    {"hodei", "wait", "hodei job wait JOB"},
    {"hodei", "kill", "hodei job cancel JOB"},
    {"hodei", "stop", "hodei job cancel JOB"},
    {"hodei", "cancel", "hodei job cancel JOB"},
    {"hodei", "rm", "hodei job delete JOB"},
    {"hodei", "delete", "hodei job delete JOB"},
    {"hodei", "nodes", "hodei worker list"},
    {"hodei", "workers", "hodei worker list"},
    {"hodei", "jobs", "hodei job list"},
    {"hodei", "info", "hodei status"},
    {"hodei", "drain", "hodei worker drain WORKER"},
    {"hodei", "apply", "hodei job submit --file FILE"},
    {"hodei", "create", "hodei job submit --file FILE"},
    {"hodei job", "describe", "hodei job get JOB"},
    {"hodei job", "inspect", "hodei job get JOB"},
    {"hodei job", "show", "hodei job get JOB"},
    {"hodei job", "view", "hodei job get JOB"},
    {"hodei job", "status", "hodei job get JOB"},
    {"hodei job", "kill", "hodei job cancel JOB"},
    {"hodei job", "stop", "hodei job cancel JOB"},
    {"hodei job", "ps", "hodei job list"},
    {"hodei job", "run", "hodei run -- COMMAND"},
    {"hodei job", "create", "hodei job submit --file FILE"},
    {"hodei job", "apply", "hodei job submit --file FILE"},
    {"hodei job", "rerun", "hodei job retry JOB"},
    {"hodei job", "log", "hodei job logs JOB"},
    {"hodei worker", "cordon", "hodei worker drain WORKER, or hodei worker taint WORKER KEY"},
    {"hodei worker", "uncordon", "hodei worker undrain WORKER"},
    {"hodei worker", "resume", "hodei worker undrain WORKER"},
    {"hodei worker", "describe", "hodei worker get WORKER"},
    {"hodei worker", "rm", "hodei worker unregister WORKER"},
    {"hodei worker", "delete", "hodei worker unregister WORKER"},
    {"hodei run", "-d", "--detach"},
    {"hodei run", "-v", "--input URL=PATH, for files that the job needs"},
    {"hodei run", "--rm", "left out: finished jobs are removed by their age"},
    {"hodei run", "-it", "left out: a job has no terminal, and its output comes to yours"},
    {"hodei run", "-m", "--memory SIZE"},
    {"hodei run", "-c", "--cpu CORES"},
};

}  // namespace

std::string here_called(std::string_view path, std::string_view word) {
  for (const Habit& known : kHabits) {
    if (known.path == path && known.word == word) return cat("; here that is ", known.here);
  }
  return {};
}

}  // namespace hodei::cli

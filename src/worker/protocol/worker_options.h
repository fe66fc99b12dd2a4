// The options with which a worker was started. The supervisor passes them to each agent over their socket.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/base/time.h"

namespace hodei::worker {

struct TaintOption {
  std::string key;
  std::string value;
  std::string effect;  // NoSchedule, PreferNoSchedule, NoExecute
};

struct WorkerOptions {
  std::vector<std::string> servers;  // host:port or http://host:port; tried in turn
  std::string token;                 // the OTP; not needed when the state folder holds a session
  std::string worker_id;             // empty: the one in the state folder, else made from the host name
  std::string name;                  // empty: the worker id
  std::string state_dir = "/var/lib/hodei/worker";
  uint32_t slots = 0;  // 0: four per cpu
  std::map<std::string, std::string> labels;
  std::vector<TaintOption> taints;
  std::vector<std::string> capabilities;  // besides shell and script
  std::string pool;
  std::string provider;               // who made this worker; empty: by hand
  std::string isolation = "process";  // process, container, hardware
  std::string image;                  // the image it was made from
  int64_t cpu_milli = 0;              // what it offers; 0: what the machine has
  int64_t memory_mb = 0;
  int64_t gpus = 0;
  // What it cannot do for a job, as the supervisor found out; the values of WorkerInfo.lacks.
  std::vector<std::string> lacks;
  bool cgroups = true;           // use them where allowed
  bool only_cgroups_v1 = false;  // not version 2, even where it is
  std::string cgroup_root = "/sys/fs/cgroup";
  uint64_t job_processes = 4096;  // of one execution, threads included; 0: no limit
  int64_t job_log_bytes = 0;      // output of one execution that is kept; 0: no limit but the job's own
  uint32_t spawn_threads = 2;
  size_t ring_bytes = 1 << 20;  // output buffered per execution
  // Output is sent when an execution has so many lines, or after so long, whichever comes first.
  uint32_t log_batch_lines = 100;
  Duration log_batch_interval = 100ms;
  std::string metrics_listen;  // host:port of the agent's /metrics; `off` or empty: none
  Duration stop_grace = 30s;   // for what runs when the worker is stopped, before it is ended
  // Ends when nothing runs and no server has answered for this long, or when the state folder is gone. 0: never.
  Duration leave_after{0};
  Duration grace = 5s;  // from SIGTERM to SIGKILL when a job names none
};

// How many executions it holds at once.
uint32_t slots_of(const WorkerOptions& options);

// Where the agent makes the folders of executions with artifacts.
inline std::string stage_folder(const std::string& state_dir) { return state_dir + "/stage"; }

}  // namespace hodei::worker

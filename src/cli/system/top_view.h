// The page of `hodei top`.
#pragma once

#include <map>
#include <string>

#include "hodei/v1/job_service.pb.h"
#include "hodei/v1/metrics_service.pb.h"
#include "hodei/v1/scheduler_service.pb.h"
#include "hodei/v1/worker_service.pb.h"
#include "src/cli/job/job_view.h"

namespace hodei::cli {

struct TopData {
  v1::QueueStatus queue;
  v1::ListWorkersResponse workers;
  v1::ListJobsResponse jobs;                           // Running and Scheduled
  std::map<std::string, v1::MetricSample> of_workers;  // the newest, by worker
  std::map<std::string, v1::MetricSample> of_jobs;     // by short id
};

std::string top_page(const TopData& data, const ViewOptions& options);

}  // namespace hodei::cli

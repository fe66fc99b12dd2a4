// Reads the trace context of a caller, and derives the trace context of a job.
#pragma once

#include "hodei/v1/job_service.pb.h"
#include "src/api/calls/call.h"
#include "src/core/commands.h"
#include "src/store/store.h"

namespace hodei::api {

// A job whose spec names no trace joins that of the call, if there is a good one.
void adopt_trace(const Call& call, core::NewJob& job);

// Lists are read without the specs, which say whose trace a job belongs to.
void add_trace_ids(store::Reader& reader, const std::vector<store::JobView>& views, v1::ListJobsResponse* out);

}  // namespace hodei::api

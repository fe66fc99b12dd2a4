// The trace of whoever calls, and the traces of jobs.
#pragma once

#include "grpcpp/server_context.h"
#include "hodei/v1/job_service.pb.h"
#include "src/core/commands.h"
#include "src/store/store.h"

namespace hodei::api {

// A job whose spec names no trace joins that of the call's metadata (`traceparent`), if there is a good one.
void adopt_trace(const grpc::CallbackServerContext& context, core::NewJob& job);

// Lists are read without the specs, which say whose trace a job belongs to.
void add_trace_ids(store::Reader& reader, const std::vector<store::JobView>& views, v1::ListJobsResponse* out);

}  // namespace hodei::api

// Finds out why jobs wait. The store has the reason of a job's last change. Only the engine knows whether a quota, a
// concurrency key or a rate holds the job back now. Only the store of inputs knows whether its standard input broke
// off.
#pragma once

#include <string>
#include <vector>

#include "hodei/v1/job.pb.h"
#include "src/api/calls/ports.h"
#include "src/api/calls/read_call.h"

namespace hodei::api {

// Fills in the reason of those that a limit holds back or that will fail instead of starting, then says OK to `done`.
// `jobs` live until then.
void tell_why_waiting(Commands& commands, const core::EnvelopePtr& envelope, const InputTrouble& trouble,
                      const std::vector<v1::Job*>& jobs, Done done);

// What people read about a waiting job that will not start; empty: it will.
std::string broken_input(const InputTrouble& trouble, JobId job);

}  // namespace hodei::api

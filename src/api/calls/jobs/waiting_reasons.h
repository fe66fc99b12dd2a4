// Why jobs wait. The store has the words of a job's last change; that a quota, a concurrency key or a rate holds it
// back right now, only the engine knows; that the standard input of one broke off, only the store of inputs.
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

// Facts about a job that every store computes in the same way: its progress through the states, its worker, the time of
// its end, and whether a query matches it.
#pragma once

#include <cstdint>
#include <string>

#include "src/core/jobs/job.h"
#include "src/core/writes.h"
#include "src/store/store.h"

namespace hodei::store {

// How far a live job is. It grows with every allowed transition (dispatched, started, back in the queue,
// dispatched again, …) and stays with every other change, so `new step >= stored step` is the whole state guard of an
// update, cheap enough to repeat in SQL. An ended job is at least as far as it ever was.
uint64_t step_of(const core::JobHead& job);

// Where its newest execution ran or runs; empty while there was none.
const std::string& last_worker(const core::JobHead& job);

// When a finished job reached its end.
WallTime ended_of(const core::JobHead& job);

// The parts of a query that ask about the head, and those that ask about the texts.
bool head_matches(const JobQuery& query, const core::JobHead& job);
bool texts_match(const JobQuery& query, const std::string& name, const core::Labels& labels);

}  // namespace hodei::store

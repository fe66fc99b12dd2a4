// Which provider could make a worker for a shape, what that worker would be, and who is to be asked first. Pure.
#pragma once

#include <optional>
#include <string>

#include "src/core/provision/provision.h"
#include "src/core/worker/worker.h"

namespace hodei::core {

// The worker that this provider would make for this shape, in this pool (null: none). Its id and times are not set.
WorkerInfo prospect(const Shape& shape, const LiveProvider& provider, const PoolRow* pool);

// Whether a worker that this provider makes in this pool (null: none) runs one execution and goes: so says the pool,
// and so it is where the isolation is the hardware's, unless the pool says `reuse`.
bool is_for_one_job(const LiveProvider& provider, const PoolRow* pool);

// Why a pool makes no worker for jobs of this namespace; nothing: it does.
std::optional<std::string> pool_against(const PoolRow* pool, std::string_view ns);

// Why this provider cannot make a worker for this shape, ever or as it is set up now; nothing: it can.
std::optional<std::string> against(const Shape& shape, const LiveProvider& provider, const PoolRow* pool);

// Why it gets none right now although it could.
std::optional<std::string> not_now(const LiveProvider& provider, uint32_t starting, MonoTime now);

// Whether `a` is to be asked before `b`: the preferred one, then by preference, by not isolating more than needed, by
// cost, by start-up time, by name.
bool asked_before(const Shape& shape, const LiveProvider& a, const LiveProvider& b);

// What people read of a job while its worker is being made; `held_up` as the provider says it, or empty.
std::string being_made(const std::string& provider, const WorkerId& worker, const std::string& held_up = "");

// A shape that stands for an idle worker of a pool.
Shape shape_of(const PoolRow& pool);

}  // namespace hodei::core

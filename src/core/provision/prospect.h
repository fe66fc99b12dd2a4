// Which provider could create a worker for a shape, what that worker would be, and which provider to try first. Pure.
#pragma once

#include <optional>
#include <string>

#include "src/core/fleet/worker.h"
#include "src/core/provision/provision.h"

namespace hodei::core {

// The worker that this provider would create for this shape in this pool (null: none). Its id and times are not set.
WorkerInfo prospect(const Shape& shape, const LiveProvider& provider, const PoolRow* pool);

// Whether a worker that this provider creates in this pool (null: none) leaves after one execution: if the pool says
// so, or if it has hardware isolation and the pool does not say `reuse`.
bool is_for_one_job(const LiveProvider& provider, const PoolRow* pool);

// Why a pool has no workers for jobs of this namespace; nothing: it does.
std::optional<std::string> pool_against(const PoolRow* pool, std::string_view ns);

// Why this provider cannot create a worker for this shape, at all or as configured now; nothing: it can.
std::optional<std::string> against(const Shape& shape, const LiveProvider& provider, const PoolRow* pool);

// Why it creates none now although it could.
std::optional<std::string> not_now(const LiveProvider& provider, uint32_t starting, MonoTime now);

// Whether to try `a` before `b`: the job's preferred provider first, then by preference, least isolation that suffices,
// cost, start-up time and name.
bool asked_before(const Shape& shape, const LiveProvider& a, const LiveProvider& b);

// What people read about a job while its worker is being created. `held_up` is the provider's message; may be empty.
std::string being_made(const std::string& provider, const WorkerId& worker, const std::string& held_up = "");

// The shape of an idle worker of a pool.
Shape shape_of(const PoolRow& pool);

}  // namespace hodei::core

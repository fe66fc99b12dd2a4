#include "src/api/calls/read_call.h"

#include <memory>
#include <utility>

namespace hodei::api {
namespace {

void start_read(server::ReadPool& pool, const Clock& clock, const Call& call, server::ReadPool::Lane lane,
                ReadWork work, Done done) {
  // The pool drops work that it refuses; then the caller gets the error here.
  const auto told = std::make_shared<Done>(std::move(done));
  const absl::Status taken =
      pool.post({call.peer(), lane}, [&clock, work = std::move(work), told, cancellation = call.cancellation] {
        const auto is_cancelled = [cancellation] { return cancellation != nullptr && cancellation->is_cancelled(); };
        store::ReadLimit limit;
        limit.is_cancelled = is_cancelled;
        const MonoTime end = clock.now().mono + kReadTime;
        limit.is_out_of_time = [&clock, end] { return clock.now().mono >= end; };
        (*told)(is_cancelled() ? absl::CancelledError("the caller has gone away") : work(limit));
      });
  if (!taken.ok()) (*told)(taken);
}

}  // namespace

void read(const Stored& stored, const Call& call, server::ReadPool::Lane lane, ReadWork work, Done done) {
  start_read(stored.pool, stored.clock, call, lane, std::move(work), std::move(done));
}

void read(const Files& files, const Call& call, server::ReadPool::Lane lane, ReadWork work, Done done) {
  start_read(files.pool, files.clock, call, lane, std::move(work), std::move(done));
}

void look_up(const Stored& stored, std::function<absl::Status()> work, Done done) {
  const absl::Status taken = stored.pool.post({.lane = kQuick}, [work = std::move(work), done] { done(work()); });
  if (!taken.ok()) done(taken);
}

}  // namespace hodei::api

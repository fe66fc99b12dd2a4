// Which server leads. The leader alone decides, commits and extends the leases of workers.
//
// A term begins with campaign() and has an epoch that no other term has. It ends when its server resigns, or when
// another server begins a term. A term that has ended never comes back: whoever wants to lead again campaigns, and
// loads everything anew. The store guards the same border by itself: it refuses commits with an epoch that is not the
// newest (store.h).
//
// The port is here and not beside the loop, because who leads is kept where the epoch is kept: a lock and a row in
// SQLite, a lease in a database that several servers share.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "src/base/time.h"
#include "src/store/store.h"

namespace hodei::store {

struct Term {
  Epoch epoch{};
  // Until then no other server begins a term, unless this one resigns. On this machine's boot-time clock, counted from
  // before the request was sent, because whoever grants a lease counts from when it arrives. kNever: as long as the
  // process holds its lock.
  MonoTime valid_until{0};
};

struct Leader {
  Epoch epoch{};
  std::string address;  // where its workers and clients reach it; empty: it has told none
};

// One for each server. The calls may block; they come from one thread at a time.
class Leadership {
 public:
  virtual ~Leadership() = default;

  // Begins a term. FAILED_PRECONDITION: another server leads. Any other error: this server does not lead; try again.
  virtual absl::StatusOr<Term> campaign(const std::string& address) = 0;

  // Extends the term, if there is anything to extend, under the same epoch. A term that has run out is extended too as
  // long as nobody else has begun one. ABORTED: the term has ended, for good. Any other error: unknown; the term is
  // valid until its old time.
  virtual absl::StatusOr<Term> renew(const Term& term) = 0;

  // Ends the term, so that others need not wait until it runs out. OK also if it has ended before.
  virtual absl::Status resign(const Term& term) = 0;

  // Nobody, or the server whose term has neither run out nor been resigned.
  virtual absl::StatusOr<std::optional<Leader>> leader() = 0;
};

}  // namespace hodei::store

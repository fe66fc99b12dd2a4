// Creates workers for jobs that fit on no worker, and for pools that have fewer than their minimum.
//
// A lane that finds no worker is wanted. At the end of every decision the wanted shapes are looked at: as many workers
// are asked for as there are jobs that neither a standing worker nor one on its way will take. Nothing here costs
// anything where there are no providers.
#pragma once

#include <string>

#include "src/core/provision/context.h"
#include "src/core/provision/providers.h"

namespace hodei::core {

class Creation {
 public:
  explicit Creation(const ProvisionContext& context) : context_(context) {}

  void want(const Lane& lane);
  void want_all();
  void look(Turn& turn);
  void keep_pools(Turn& turn);
  void resume(Turn& turn) { loaded_ = turn.mono(); }

  // A worker that somebody started and that could take such a job when it has room: then nothing is made, unless the
  // job names who is to make its worker.
  bool waits_for_standing_worker(const WaitingShape& shape, const Turn& turn) const;

 private:
  void resume_making(Turn& turn);
  void make_for(const WaitingShape& shape, Turn& turn);
  LiveProvider* choose_provider(const Shape& shape, const Turn& turn);
  // For a job of the namespace or, without a job, for any later one. Empty namespace: it serves all.
  void make_worker(const Shape& shape, LiveProvider& provider, JobId job, const std::string& ns, Turn& turn);

  const ProvisionContext& context_;
  MonoTime loaded_{0};
};

}  // namespace hodei::core

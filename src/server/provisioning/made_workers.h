// The workers that one provider was asked to make, or was found to have, each with how far it is.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

#include "src/base/time.h"
#include "src/core/commands.h"

namespace hodei::server {

struct MadeWorker {
  enum class Step { Queued, Creating, There, ToDestroy, Destroying };
  Step step = Step::Queued;
  core::WorkerRecordPtr record;  // null: found, not asked for
  std::string handle;
  MonoTime asked{0};
  MonoTime runs_since = kNever;  // and has not registered
  MonoTime due = kNever;         // the next look, or the next attempt to destroy
  uint32_t tries = 0;            // to destroy
  bool destroy_wanted = false;   // as soon as its create returns
  bool runs_told = false;
  std::string held_up;  // as last told to the engine
  bool registered = false;
  bool looking = false;
  bool look_again = false;
};

// Shared by those who create, destroy and look at them. Nothing is called while the mutex is held, except to queue
// work.
struct MadeWorkers {
  std::mutex mutex;                 // guards what follows
  std::condition_variable emptied;  // by_id has nothing left
  bool ending = false;              // nothing is made any more
  std::map<WorkerId, MadeWorker> by_id;
};

}  // namespace hodei::server

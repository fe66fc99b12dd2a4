// The workers of a program, as its driver knows them. It enforces the maximum number of workers, and never runs two
// calls about the same worker at once.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/providers/provider.h"

namespace hodei::providers {

class WorkerRolls {
 public:
  // Held while the program creates or destroys one worker. Waits until nobody else holds it.
  class Turn {
   public:
    Turn(WorkerRolls& rolls, std::string worker_id);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    WorkerRolls& rolls_;
    const std::string worker_id_;
  };

  // The handle's id, where the worker is known; empty: it is known, its id is not.
  std::optional<std::string> find(const std::string& worker_id);
  // Room for one more, taken at once. False: there is none.
  bool take_room(const std::string& worker_id, uint32_t room);
  void made(const std::string& worker_id, const std::string& id);
  void destroyed(const std::string& worker_id);

  bool was_listed();
  // Before the program is asked for its list, and after: what came and went in between is not in it.
  uint64_t before_list();
  void listed(uint64_t before, const std::vector<OwnedWorker>& workers);

 private:
  struct Entry {
    std::string id;
    uint64_t since = 0;
  };

  std::mutex mutex_;
  std::condition_variable freed_;
  std::set<std::string> turns_;
  std::map<std::string, Entry> known_;
  std::map<std::string, uint64_t> gone_;  // when they were destroyed, until a later list has been read
  uint64_t now_ = 0;
  bool was_listed_ = false;
};

}  // namespace hodei::providers

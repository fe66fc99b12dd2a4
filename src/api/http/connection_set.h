// The connections of a host that are open. It keeps them alive, and knows when the last one has ended.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "src/api/http/connection.h"

namespace hodei::api {

class ConnectionSet {
 public:
  // False: the host is stopping.
  bool add(const std::shared_ptr<Connection>& connection);
  void remove(const Connection* connection);

  // From now on nothing can be added. Returns what there is.
  std::vector<std::shared_ptr<Connection>> close();
  void wait_until_empty(Duration limit);

 private:
  std::mutex mutex_;  // guards all below
  std::condition_variable is_empty_;
  std::map<const Connection*, std::shared_ptr<Connection>> all_;
  bool is_closed_ = false;
};

}  // namespace hodei::api

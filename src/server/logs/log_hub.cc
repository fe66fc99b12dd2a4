#include "src/server/logs/log_hub.h"

namespace hodei::server {

void LogHub::start() {
  thread_ = std::thread([this] {
    while (writer().inbox().wait(writer().takes_items())) step();
  });
}

void LogHub::stop() {
  writer().inbox().stop();
  if (thread_.joinable()) thread_.join();
  end_subscriptions();
}

}  // namespace hodei::server

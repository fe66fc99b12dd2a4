// Who may come in: how many connections, streams and bytes of bodies there are at the same time. Used by all
// connections of a host, from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "src/api/http/http_limits.h"

namespace hodei::api {

// An amount that many take shares of.
class Quota {
 public:
  explicit Quota(size_t most) : most_(most) {}

  bool take(size_t amount);
  void give_back(size_t amount) { taken_ -= amount; }
  size_t taken() const { return taken_; }

 private:
  const size_t most_;
  std::atomic<size_t> taken_ = 0;
};

// What was taken of a quota; given back at the end.
class Share {
 public:
  explicit Share(Quota& quota) : quota_(&quota) {}
  ~Share() { quota_->give_back(amount_); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  // False: there is not that much left, and the share stays as it is.
  bool grow(size_t amount);

 private:
  Quota* quota_;
  size_t amount_ = 0;
};

// Connections by the address they come from: one IPv4 address, or the /64 of an IPv6 address, because a machine has
// all of those.
class AddressCount {
 public:
  explicit AddressCount(size_t most) : most_(most) {}

  bool take(const std::string& address);
  void give_back(const std::string& address);

 private:
  const size_t most_;
  std::mutex mutex_;  // guards the map
  std::map<std::string, size_t> by_address_;
};

struct Admission {
  explicit Admission(const HttpLimits& limits)
      : connections(limits.connections),
        addresses(limits.connections_of_address),
        streams(limits.streams),
        bodies(limits.body_bytes_in_all) {}

  Quota connections;
  AddressCount addresses;
  Quota streams;
  Quota bodies;
};

// One connection's place; given back at the end.
class ConnectionPlace {
 public:
  // Null: there is no room.
  static std::optional<ConnectionPlace> take(Admission& admission, const std::string& address);
  ~ConnectionPlace();
  ConnectionPlace(ConnectionPlace&& other) noexcept;
  ConnectionPlace& operator=(ConnectionPlace&&) = delete;

 private:
  ConnectionPlace(Admission& admission, std::string address) : admission_(&admission), address_(std::move(address)) {}

  Admission* admission_;  // null: moved from
  std::string address_;
};

}  // namespace hodei::api

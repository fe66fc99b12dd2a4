#include "src/api/http/admission.h"

#include <utility>

namespace hodei::api {

bool Quota::take(size_t amount) {
  size_t now = taken_;
  do {
    if (amount > most_ || now > most_ - amount) return false;
  } while (!taken_.compare_exchange_weak(now, now + amount));
  return true;
}

bool Share::grow(size_t amount) {
  if (!quota_->take(amount)) return false;
  amount_ += amount;
  return true;
}

bool AddressCount::take(const std::string& address) {
  const std::lock_guard lock(mutex_);
  size_t& count = by_address_[address];
  if (count >= most_) return false;  // at least one, so no empty entry stays behind
  ++count;
  return true;
}

void AddressCount::give_back(const std::string& address) {
  const std::lock_guard lock(mutex_);
  const auto it = by_address_.find(address);
  if (--it->second == 0) by_address_.erase(it);
}

std::optional<ConnectionPlace> ConnectionPlace::take(Admission& admission, const std::string& address) {
  if (!admission.connections.take(1)) return std::nullopt;
  if (admission.addresses.take(address)) return ConnectionPlace(admission, address);
  admission.connections.give_back(1);
  return std::nullopt;
}

ConnectionPlace::ConnectionPlace(ConnectionPlace&& other) noexcept
    : admission_(std::exchange(other.admission_, nullptr)), address_(std::move(other.address_)) {}

ConnectionPlace::~ConnectionPlace() {
  if (admission_ == nullptr) return;
  admission_->addresses.give_back(address_);
  admission_->connections.give_back(1);
}

}  // namespace hodei::api

// The term of this server, as it sees it: until when it is valid, and whether it is lost. A term is lost, never seized
// back: a server that was deposed does not campaign again.
#pragma once

#include <string>

#include "src/base/time.h"
#include "src/store/leadership.h"

namespace hodei::server {

class HeldTerm {
 public:
  HeldTerm(store::Leadership& leadership, const Clock& clock) : leadership_(leadership), clock_(clock) {}

  // Campaigns, once. `address` is where others reach this server.
  absl::Status begin(const std::string& address);
  // Under the same epoch. ABORTED: it is lost.
  absl::Status renew();
  absl::Status renew_if_due();
  void lose() { lost_ = true; }
  void resign();

  bool is_lost() const { return lost_; }
  bool is_valid() const { return valid_until() == kNever || clock_.now().mono < valid_until(); }
  store::Epoch epoch() const { return term_.epoch; }
  MonoTime valid_until() const { return lost_ ? MonoTime{0} : term_.valid_until; }
  MonoTime renew_at() const { return renew_at_; }  // kNever: there is nothing to renew

 private:
  void accept(const store::Term& term, MonoTime asked);

  store::Leadership& leadership_;
  const Clock& clock_;
  store::Term term_;
  MonoTime renew_at_ = kNever;
  bool lost_ = false;  // or resigned
};

}  // namespace hodei::server

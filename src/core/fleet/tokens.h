// One-time tokens, with which workers register.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "src/core/audit/audit.h"
#include "src/core/config.h"
#include "src/core/fleet/workers.h"
#include "src/core/routing.h"

namespace hodei::core {

class Tokens {
 public:
  Tokens(const EngineConfig& config, const Workers& workers, Audit& audit)
      : config_(config), workers_(workers), audit_(audit) {}

  Answer decide(const MakeOtp& c, Turn& turn);

  const OtpRow* find(const Hash128& token) const;
  void start(const WorkerId& worker, Turn& turn) const;  // it runs: its token's lifetime begins
  void revoke(const WorkerId& worker, Turn& turn) const;
  void sweep(Turn& turn) const;

  void fold(const Put<OtpRow>& write) { all_[write.row->token] = *write.row; }
  void fold(const Erase<OtpRow>& write) { all_.erase(write.key); }
  uint64_t digest() const;

 private:
  const EngineConfig& config_;
  const Workers& workers_;
  Audit& audit_;
  std::map<Hash128, OtpRow> all_;
};

}  // namespace hodei::core

#include "src/core/fleet/tokens.h"

#include <algorithm>
#include <vector>

#include "src/base/codec.h"
#include "src/base/status.h"

namespace hodei::core {

Answer Tokens::decide(const MakeOtp& c, Turn& turn) {
  if (!c.worker.empty()) RETURN_IF_ERROR(check_name("worker_id", c.worker.str()));
  // One that is being made may have to wait for its image first.
  const LiveWorker* worker = workers_.find(c.worker);
  const bool is_coming = worker != nullptr && worker->record->info.made && worker->state == WorkerState::Creating;
  if (!is_coming && all_.size() >= config_.max_otps) {
    return absl::ResourceExhaustedError(cat("there are ", config_.max_otps,
                                            " unused tokens, which is the limit; use them, or "
                                            "wait until they expire (",
                                            config_.otp_life.count() / 1'000'000, " s)"));
  }
  // Its life begins when the worker runs: until then the token lies with the provider.
  const Duration life = is_coming ? config_.making_limit + config_.otp_life : config_.otp_life;
  const WallTime expires = turn.steady() + life;
  turn.write(Put<OtpRow>{{c.token, c.worker, expires}});
  audit_.record_act({"otp.created", c.worker.str(),
                     cat(c.worker.empty() ? "for any new worker, " : "", "until ", format_utc(expires))},
                    turn);
  return OtpMade{c.worker, expires};
}

void Tokens::start(const WorkerId& worker, Turn& turn) const {
  std::vector<OtpRow> tokens;
  for (const auto& [token, otp] : all_) {
    if (otp.worker == worker) tokens.push_back(otp);
  }
  for (OtpRow& otp : tokens) {
    otp.expires = std::min(otp.expires, turn.steady() + config_.otp_life);
    turn.write(Put<OtpRow>{otp});
  }
}

void Tokens::revoke(const WorkerId& worker, Turn& turn) const {
  std::vector<Hash128> tokens;
  for (const auto& [token, otp] : all_) {
    if (otp.worker == worker) tokens.push_back(token);
  }
  for (const Hash128& token : tokens) turn.write(Erase<OtpRow>{token});
}

const OtpRow* Tokens::find(const Hash128& token) const {
  const auto it = all_.find(token);
  return it == all_.end() ? nullptr : &it->second;
}

void Tokens::sweep(Turn& turn) const {
  std::vector<Hash128> stale;
  for (const auto& [token, otp] : all_) {
    if (otp.expires <= turn.steady()) stale.push_back(token);
  }
  for (const Hash128& token : stale) turn.write(Erase<OtpRow>{token});
}

uint64_t Tokens::digest() const {
  uint64_t sum = 0;
  for (const auto& [token, otp] : all_) {
    Encoder out;
    out.u64(token.high).u64(token.low).text(otp.worker.str()).i64(otp.expires.us);
    sum += hash64(out.bytes());
  }
  return sum;
}

}  // namespace hodei::core

#include "bench/lib/connection.h"

#include "absl/synchronization/mutex.h"
#include "grpcpp/grpcpp.h"

namespace hodei::bench {

std::shared_ptr<grpc::Channel> connect(const std::string& address) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);  // as hodei does
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  args.SetMaxReceiveMessageSize(64 << 20);
  args.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // as hodei's own clients
  args.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 4 << 20);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), args);
}

}  // namespace hodei::bench

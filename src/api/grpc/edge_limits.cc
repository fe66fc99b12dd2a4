#include "src/api/grpc/edge_limits.h"

#include "grpcpp/grpcpp.h"
#include "grpcpp/resource_quota.h"

namespace hodei::api {
namespace {

constexpr int kMaxMessageBytes = 4 << 20;
constexpr int kMaxMetadataBytes = 16 << 10;
constexpr int kMaxStreamsPerConnection = 10'000;
constexpr int kStreamWindow = 4 << 20;
constexpr size_t kMaxBufferBytes = size_t{512} << 20;

}  // namespace

void set_edge_limits(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  // A compressed message may unpack to anything, and its size is looked at only afterwards: 1 MB becomes 1 GB.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  // Two servers must never share a port and split the callers between them.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreamsPerConnection);
  // Measuring the line costs pings that outnumber the calls; a window that fits a fast one is given at once instead.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kStreamWindow);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1'000);
  grpc::ResourceQuota quota("hodei");
  quota.Resize(kMaxBufferBytes);
  builder.SetResourceQuota(quota);
}

}  // namespace hodei::api

// The limits of the HTTP host. docs/limits.md says what happens when each of them is reached.
#pragma once

#include <cstddef>

#include "src/base/time.h"

namespace hodei::api {

struct HttpLimits {
  size_t connections = 2048;
  size_t connections_of_address = 1024;  // of one IPv4 address, or one /64 of IPv6
  size_t streams = 1024;                 // answers being streamed
  size_t requests_of_connection = 1000;  // then it is closed, in good order

  size_t target_bytes = 8 << 10;
  size_t header_bytes = 16 << 10;        // request line included
  size_t body_bytes = 1 << 20;           // of a request, unless its route says otherwise
  size_t body_bytes_in_all = 64 << 20;   // of all requests whose bodies are held in memory
  size_t send_buffer_bytes = 256 << 10;  // that the kernel may hold for one connection

  Duration idle = 75s;       // between two requests of a connection
  Duration header = 10s;     // from the first byte of a request to the end of its header
  Duration body = 30s;       // for each kBlockBytes of a body to arrive
  Duration answer = 10s;     // for the handler to answer, unless its route says otherwise
  Duration write = 30s;      // for each kBlockBytes of an answer to be taken by the client
  Duration heartbeat = 15s;  // of a stream that has nothing to say, if it wants any
  Duration linger = 2s;      // for the client to close a connection that was answered for the last time
  Duration stop = 2s;        // for what is being answered when the host stops
};

// Slow clients are judged by blocks: who moves a block in time is slow but alive.
inline constexpr size_t kBlockBytes = 64 << 10;

}  // namespace hodei::api

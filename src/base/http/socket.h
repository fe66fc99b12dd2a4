// Options that the HTTP client and the HTTP server set on every socket.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace hodei::http {

// Asio opens sockets that programs started by us would inherit.
template <class Socket>
void keep_from_children(Socket& socket) {
  fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
}

// A peer whose machine is gone says nothing, and neither does one that only waits. The kernel asks it after a minute of
// silence, and ends the connection when it has not answered for another one.
template <class Socket>
void notice_dead_peer(Socket& socket) {
  const auto set = [fd = socket.native_handle()](int level, int name, int value) {
    setsockopt(fd, level, name, &value, sizeof(value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
}

}  // namespace hodei::http

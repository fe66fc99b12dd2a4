#include "src/worker/protocol/channel.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "src/base/status.h"

namespace hodei::worker {
namespace {

constexpr size_t kPacket = 64 << 10;
constexpr size_t kFdsPerPacket = 128;  // the kernel takes 253
constexpr size_t kLengthBytes = 4;

}  // namespace

absl::StatusOr<std::pair<Fd, Fd>> Channel::make_pair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) != 0) {
    return absl::ErrnoToStatus(errno, "socketpair");
  }
  return std::pair{Fd(fds[0]), Fd(fds[1])};
}

pid_t Channel::peer() const {
  ucred who{};
  socklen_t size = sizeof(who);
  return getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 ? who.pid : 0;
}

void Channel::put(const protocol::Message& message, const std::vector<int>& descriptors) {
  const size_t at = out_.size();
  const std::string body = protocol::encode(message);
  const auto length = static_cast<uint32_t>(body.size());
  out_.append(reinterpret_cast<const char*>(&length), kLengthBytes);
  out_.append(body);
  for (const int fd : descriptors) out_fds_.push_back({at, Fd(fcntl(fd, F_DUPFD_CLOEXEC, 0))});
}

absl::Status Channel::flush() {
  while (sent_ < out_.size()) {
    const absl::Status sent = send_packet();
    if (absl::IsUnavailable(sent)) break;
    RETURN_IF_ERROR(sent);
  }
  if (sent_ == out_.size()) {
    out_.clear();
    sent_ = 0;
  } else if (sent_ > kPacket * 16) {
    out_.erase(0, sent_);
    for (Waiting& waiting : out_fds_) waiting.at -= sent_;
    sent_ = 0;
  }
  if (out_.size() - sent_ > kMaxWaiting) return absl::ResourceExhaustedError("the other side is not reading");
  return absl::OkStatus();
}

// UNAVAILABLE: the socket is full.
absl::Status Channel::send_packet() {
  size_t end = std::min(out_.size(), sent_ + kPacket);
  size_t fds = 0;
  while (fds < out_fds_.size() && fds < kFdsPerPacket && out_fds_[fds].at < end) ++fds;
  if (fds == kFdsPerPacket && fds < out_fds_.size()) end = std::min(end, out_fds_[fds].at);
  iovec data{out_.data() + sent_, end - sent_};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kFdsPerPacket)];
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (fds > 0) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(sizeof(int) * fds);
    cmsghdr* cmsg = CMSG_FIRSTHDR(&header);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(sizeof(int) * fds);
    int* out = reinterpret_cast<int*>(CMSG_DATA(cmsg));
    for (size_t i = 0; i < fds; ++i) out[i] = out_fds_[i].fd.get();
  }
  const ssize_t sent = sendmsg(socket_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) {
    if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS) return absl::UnavailableError("full");
    return absl::AbortedError(cat("the other side is gone: ", strerror(errno)));
  }
  sent_ = end;
  out_fds_.erase(out_fds_.begin(), out_fds_.begin() + static_cast<ptrdiff_t>(fds));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Channel::Received>> Channel::receive() {
  std::vector<Received> out;
  while (broken_.ok()) {
    const absl::StatusOr<bool> more = read_packet();
    if (more.ok() && !*more) return out;
    broken_ = more.ok() ? cut_messages(out) : more.status();
  }
  // What arrived before the end is delivered first.
  if (!out.empty()) return out;
  return broken_;
}

// False: nothing there now.
absl::StatusOr<bool> Channel::read_packet() {
  if (packet_.empty()) packet_.resize(kPacket);
  iovec data{packet_.data(), packet_.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kFdsPerPacket)];
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  const ssize_t got = recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (got <= 0) return absl::AbortedError("the other side is gone");
  in_.append(packet_.data(), static_cast<size_t>(got));
  for (cmsghdr* cmsg = CMSG_FIRSTHDR(&header); cmsg != nullptr; cmsg = CMSG_NXTHDR(&header, cmsg)) {
    if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    const int* fds = reinterpret_cast<const int*>(CMSG_DATA(cmsg));
    for (size_t i = 0; i < count; ++i) in_fds_.emplace_back(fds[i]);
  }
  return true;
}

absl::Status Channel::cut_messages(std::vector<Received>& into) {
  size_t at = 0;
  while (in_.size() - at >= kLengthBytes) {
    uint32_t length = 0;
    std::memcpy(&length, in_.data() + at, kLengthBytes);
    if (length > kMaxMessage) return absl::InvalidArgumentError(cat("a message of ", length, " bytes"));
    if (in_.size() - at - kLengthBytes < length) break;
    ASSIGN_OR_RETURN(protocol::Message message,
                     protocol::decode(std::string_view(in_).substr(at + kLengthBytes, length)));
    at += kLengthBytes + length;
    Received received{std::move(message), {}};
    for (size_t n = protocol::descriptors_of(received.message); n > 0; --n) {
      if (in_fds_.empty()) return absl::InvalidArgumentError("a descriptor is missing");
      received.descriptors.push_back(std::move(in_fds_.front()));
      in_fds_.pop_front();
    }
    into.push_back(std::move(received));
  }
  in_.erase(0, at);
  return absl::OkStatus();
}

}  // namespace hodei::worker

// The connection to a client, as the host sees it: bytes in both directions. TCP today; TLS will be a second one.
#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <functional>
#include <span>
#include <string_view>

namespace hodei::api {

class ByteStream {
 public:
  using Done = std::function<void(boost::system::error_code, size_t)>;

  virtual ~ByteStream() = default;
  // Where the functions below are called, and where `done` is called: one at a time.
  virtual boost::asio::any_io_executor executor() = 0;

  // One read and one write may be under way at the same time. The bytes must live until `done`.
  virtual void read_some(std::span<char> into, Done done) = 0;
  virtual void write(const std::array<std::string_view, 2>& parts, Done done) = 0;

  // Tells the client that nothing more will come; it may still send.
  virtual void end_writing() = 0;
  // Both end whatever is under way. After a reset the client knows that something is missing, and the kernel keeps
  // nothing for it.
  virtual void close() = 0;
  virtual void reset() = 0;
};

class TcpByteStream final : public ByteStream {
 public:
  explicit TcpByteStream(boost::asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

  boost::asio::any_io_executor executor() override { return socket_.get_executor(); }
  void read_some(std::span<char> into, Done done) override;
  void write(const std::array<std::string_view, 2>& parts, Done done) override;
  void end_writing() override;
  void close() override;
  void reset() override;

 private:
  boost::asio::ip::tcp::socket socket_;
};

}  // namespace hodei::api

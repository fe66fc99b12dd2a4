#include "src/api/http/byte_stream.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

namespace hodei::api {

namespace asio = boost::asio;

void TcpByteStream::read_some(std::span<char> into, Done done) {
  socket_.async_read_some(asio::buffer(into.data(), into.size()), std::move(done));
}

void TcpByteStream::write(const std::array<std::string_view, 2>& parts, Done done) {
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(parts[0].data(), parts[0].size()),
                                                     asio::buffer(parts[1].data(), parts[1].size())};
  asio::async_write(socket_, buffers, std::move(done));
}

void TcpByteStream::end_writing() {
  boost::system::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

void TcpByteStream::close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

void TcpByteStream::reset() {
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

}  // namespace hodei::api

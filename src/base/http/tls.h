// TLS settings of a connection: which authorities are trusted, and which name the certificate must have.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "src/base/http/client.h"

namespace hodei::http {

using TlsStream = boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>;

absl::StatusOr<std::unique_ptr<boost::asio::ssl::context>> tls_context(const Options& options);

// The name that is asked for (SNI) and that the certificate must have.
absl::Status expect_host(TlsStream& stream, const std::string& host);

// After a failed handshake: what is wrong with the certificate; empty when it was not that.
std::string why_not_trusted(TlsStream& stream);

}  // namespace hodei::http

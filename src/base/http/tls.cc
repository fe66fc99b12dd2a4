#include "src/base/http/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include "src/base/status.h"

namespace hodei::http {
namespace {

namespace ssl = boost::asio::ssl;

// Where systems keep their CAs; a static binary cannot know on which it runs.
constexpr const char* kSystemFiles[] = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                        "/etc/ssl/cert.pem"};

bool is_address(const std::string& host) {
  boost::system::error_code error;
  boost::asio::ip::make_address(host, error);
  return !error;
}

absl::Status present(ssl::context& context, const Tls& tls) {
  if (tls.certificate_pem.empty() && tls.key_pem.empty()) return absl::OkStatus();
  boost::system::error_code error;
  context.use_certificate_chain(boost::asio::buffer(tls.certificate_pem), error);
  if (error) return absl::FailedPreconditionError(cat("the client certificate is not valid PEM: ", error.message()));
  context.use_private_key(boost::asio::buffer(tls.key_pem), ssl::context::pem, error);
  if (error) {
    return absl::FailedPreconditionError(
        cat("the key of the client certificate is not valid PEM or does not match the "
            "certificate: ",
            error.message()));
  }
  return absl::OkStatus();
}

// All of them: Asio takes only the first.
absl::Status trust(ssl::context& context, const std::string& ca_pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new_mem_buf(ca_pem.data(), static_cast<int>(ca_pem.size())),
                                                       BIO_free);
  X509_STORE* store = SSL_CTX_get_cert_store(context.native_handle());
  int found = 0;
  while (text) {
    const std::unique_ptr<X509, decltype(&X509_free)> ca(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr),
                                                         X509_free);
    if (!ca) break;
    if (X509_STORE_add_cert(store, ca.get()) == 1) ++found;
  }
  ERR_clear_error();
  if (found == 0) return absl::FailedPreconditionError("the CA PEM contains no certificate");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ssl::context>> tls_context(const Options& options) {
  const std::string& ca_file = options.ca_file;
  auto context = std::make_unique<ssl::context>(ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  context->set_verify_mode(ssl::verify_peer);
  RETURN_IF_ERROR(present(*context, options.tls));
  if (!options.tls.ca_pem.empty()) {
    RETURN_IF_ERROR(trust(*context, options.tls.ca_pem));
    return context;
  }
  boost::system::error_code error;
  if (!ca_file.empty()) {
    context->load_verify_file(ca_file, error);
    if (error)
      return absl::FailedPreconditionError(cat("ca_file: cannot read CAs from ", ca_file, ": ", error.message()));
    return context;
  }
  context->set_default_verify_paths(error);  // looks at SSL_CERT_FILE and SSL_CERT_DIR too
  for (const char* file : kSystemFiles) {
    if (access(file, R_OK) != 0) continue;
    context->load_verify_file(file, error);
    break;
  }
  return context;
}

absl::Status expect_host(TlsStream& stream, const std::string& host) {
  SSL* tls = stream.native_handle();
  const bool set = is_address(host)
                       ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host.c_str()) == 1
                       : SSL_set_tlsext_host_name(tls, host.c_str()) == 1 && SSL_set1_host(tls, host.c_str()) == 1;
  return set ? absl::OkStatus() : absl::InvalidArgumentError(cat("'", host, "' is not a host name"));
}

std::string why_not_trusted(TlsStream& stream) {
  const long result = SSL_get_verify_result(stream.native_handle());
  return result == X509_V_OK ? std::string() : X509_verify_cert_error_string(result);
}

}  // namespace hodei::http

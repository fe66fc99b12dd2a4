#include <atomic>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "gtest/gtest.h"
#include "src/base/http/tls.h"
#include "src/base/text.h"

namespace hodei::http::tls_test {
namespace {

namespace asio = boost::asio;

const std::string kNewKey = "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

// A CA of the test's own with certificates for a server called "tls.test" and a client called "me".
class Authority {
 public:
  Authority() {
    std::string pattern = std::filesystem::temp_directory_path() / "hodei-tls-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    run(kNewKey + " -x509 -keyout ca.key -out ca.pem -days 2 -subj '/CN=a CA'");
    std::ofstream(folder_ + "/names") << "subjectAltName=DNS:tls.test\n";
    for (const char* who : {"tls.test", "me"}) {
      run(cat(kNewKey, " -keyout ", who, ".key -out ", who, ".csr -subj /CN=", who));
      run(cat("x509 -req -in ", who, ".csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out ", who,
              ".pem"));
    }
  }
  ~Authority() { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return cat(folder_, "/", name); }
  std::string text(const std::string& name) const {
    std::ostringstream out;
    out << std::ifstream(path(name)).rdbuf();
    return out.str();
  }

 private:
  void run(const std::string& words) {
    const std::string command = cat("cd ", folder_, " && openssl ", words, " 2>/dev/null");
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
  std::string folder_;
};

// Asks for a client's certificate and answers with the name in it.
class TlsServer {
 public:
  explicit TlsServer(const Authority& authority) : context_(asio::ssl::context::tls_server) {
    context_.use_certificate_chain_file(authority.path("tls.test.pem"));
    context_.use_private_key_file(authority.path("tls.test.key"), asio::ssl::context::pem);
    context_.load_verify_file(authority.path("ca.pem"));
    context_.set_verify_mode(asio::ssl::verify_peer);
    thread_ = std::thread([this] { serve(); });
  }
  ~TlsServer() {
    // Wakes the acceptor a last time.
    stopping_ = true;
    boost::system::error_code ignored;
    asio::ip::tcp::socket(io_).connect(acceptor_.local_endpoint(), ignored);
    thread_.join();
  }
  std::string url() const { return cat("https://127.0.0.1:", acceptor_.local_endpoint().port(), "/"); }

 private:
  void serve() {
    while (true) {
      asio::ip::tcp::socket socket(io_);
      acceptor_.accept(socket);
      if (stopping_) return;
      TlsStream stream(socket, context_);
      boost::system::error_code error;
      stream.handshake(asio::ssl::stream_base::server, error);
      if (error) continue;
      asio::streambuf request;
      asio::read_until(stream, request, "\r\n\r\n", error);
      const std::string name = name_of_peer(stream);
      asio::write(stream, asio::buffer(cat("HTTP/1.1 200 OK\r\nContent-Length: ", name.size(), "\r\n\r\n", name)),
                  error);
      stream.shutdown(error);
    }
  }
  static std::string name_of_peer(TlsStream& stream) {
    X509* certificate = SSL_get_peer_certificate(stream.native_handle());
    if (certificate == nullptr) return "nobody";
    char name[100] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof(name));
    X509_free(certificate);
    return name;
  }

  asio::io_context io_;
  asio::ip::tcp::acceptor acceptor_{io_, {asio::ip::make_address("127.0.0.1"), 0}};
  asio::ssl::context context_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

class TlsTest : public testing::Test {
 protected:
  Options trusting() const {
    Options options;
    options.tls = {.ca_pem = authority_.text("ca.pem"), .server_name = "tls.test"};
    return options;
  }
  Authority authority_;
  TlsServer server_{authority_};
};

TEST_F(TlsTest, TrustsACaGivenAsTextAmongOthers) {
  Options options = trusting();
  options.tls.ca_pem = authority_.text("me.pem") + options.tls.ca_pem;  // all of them count, not only the first
  const auto response = call({.url = server_.url()}, options);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->body, "nobody");
}

TEST_F(TlsTest, ShowsItsCertificate) {
  Options options = trusting();
  options.tls.certificate_pem = authority_.text("me.pem");
  options.tls.key_pem = authority_.text("me.key");
  const auto response = call({.url = server_.url()}, options);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->body, "me");
}

TEST_F(TlsTest, RefusesAKeyOfAnotherCertificateBeforeItAsks) {
  Options options = trusting();
  options.tls.certificate_pem = authority_.text("me.pem");
  options.tls.key_pem = authority_.text("tls.test.key");
  EXPECT_TRUE(absl::IsFailedPrecondition(call({.url = server_.url()}, options).status()));
}

TEST_F(TlsTest, ExpectsTheNameThatItWasTold) {
  Options options = trusting();
  options.tls.server_name = "";
  EXPECT_TRUE(absl::IsFailedPrecondition(call({.url = server_.url()}, options).status()))
      << "the certificate is not for 127.0.0.1";
  options.tls.server_name = "other.test";
  EXPECT_TRUE(absl::IsFailedPrecondition(call({.url = server_.url()}, options).status()));
}

TEST_F(TlsTest, TrustsNobodyElseThanTheGivenCa) {
  Options options = trusting();
  options.tls.ca_pem = Authority().text("ca.pem");
  EXPECT_TRUE(absl::IsFailedPrecondition(call({.url = server_.url()}, options).status()));
  options.tls.ca_pem = "no certificate at all";
  EXPECT_TRUE(absl::IsFailedPrecondition(call({.url = server_.url()}, options).status()));
}

}  // namespace
}  // namespace hodei::http::tls_test

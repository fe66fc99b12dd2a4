// A connection to a server on loopback: plaintext and without authentication, as everything here is measured.
#pragma once

#include <memory>
#include <string>

#include "grpcpp/channel.h"

namespace hodei::bench {

std::shared_ptr<grpc::Channel> connect(const std::string& address);  // one of its own, never shared

}  // namespace hodei::bench

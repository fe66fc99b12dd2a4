// The parts of a server, for whoever puts something together from them. Who needs one part only is given that part.
#pragma once

namespace hodei {
class Clock;
}

namespace hodei::server {

class Carrier;
class JobFiles;
class Loop;
class OrderWriter;
class Provisioner;
class ServerStatus;
class Storage;
class Telemetry;
class Vault;
struct Connections;
struct ServerOptions;
struct WorkPools;

struct ServerParts {
  const ServerOptions& options;
  const Clock& clock;
  Storage& storage;
  WorkPools& pools;
  const Vault& vault;
  JobFiles& files;
  Connections& connections;
  Telemetry& telemetry;
  Provisioner& provisioner;
  Carrier& carrier;
  OrderWriter& orders;
  Loop& loop;
  ServerStatus& status;
};

}  // namespace hodei::server

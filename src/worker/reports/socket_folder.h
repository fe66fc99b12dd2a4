// The folder of $HODEI_SOCKET. Not in the state folder when that can be avoided: a job that runs as another user must
// be able to walk there, and the path must be short (108 bytes are all that a socket's address holds).
#pragma once

#include <string>

namespace hodei::worker {

class SocketFolder {
 public:
  SocketFolder() = default;  // none
  // The first that can be made of: /run/hodei/<mark> (for root), <state>/run (for others), /tmp/hodei-<mark>. None when
  // nothing works.
  static SocketFolder make(const std::string& mark, const std::string& state_dir);
  SocketFolder(SocketFolder&& other) noexcept;
  SocketFolder& operator=(SocketFolder&& other) noexcept;
  ~SocketFolder();  // removes it

  std::string socket() const;  // the path to listen on; empty: there is no folder

 private:
  std::string path_;
};

}  // namespace hodei::worker

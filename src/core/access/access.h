// The module of access control: users and groups. Nobody is refused anything yet: a client declares its user, and the
// engine notes when a known user was seen.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "src/core/access/commands.h"
#include "src/core/audit/audit.h"
#include "src/core/foundation.h"
#include "src/core/routing.h"

namespace hodei::core {

class Access {
 public:
  explicit Access(const Foundation& on) : audit_(on.audit) {}

  Answer decide(const PutUser& c, Turn& turn);
  Answer decide(const DropUser& c, Turn& turn);
  Answer decide(const PutGroup& c, Turn& turn);
  Answer decide(const DropGroup& c, Turn& turn);
  Answer decide(const DescribeUsers& q, Turn& turn) const;
  Answer decide(const DescribeGroups& q, Turn& turn) const;

  // The principal of a command was seen. At most one write in an hour for each user.
  void note_principal(Turn& turn);

  void fold(const Put<UserRow>& write) { users_[write.row->name] = *write.row; }
  void fold(const Erase<UserRow>& write) { users_.erase(write.key); }
  void fold(const Put<GroupRow>& write) { groups_[write.row->name] = *write.row; }
  void fold(const Erase<GroupRow>& write) { groups_.erase(write.key); }
  uint64_t digest() const;

 private:
  size_t users_in(const std::string& group) const;

  Audit& audit_;
  std::map<std::string, UserRow> users_;
  std::map<std::string, GroupRow> groups_;
};

}  // namespace hodei::core

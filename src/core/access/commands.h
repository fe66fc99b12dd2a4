// The commands of access control, and their answers.
#pragma once

#include <string>
#include <vector>

#include "src/core/access/rows.h"
#include "src/core/rows/row.h"

namespace hodei::core {

struct PutUser {
  UserRow row;
};  // the engine sets the times
struct DropUser {
  std::string name;
};
struct PutGroup {
  GroupRow row;
};
struct DropGroup {
  std::string name;
};  // no user must belong to it

struct DescribeUsers {
  std::string name;
};  // empty: all
struct DescribeGroups {};

struct UserViews {
  std::vector<UserRow> users;
};
struct GroupView {
  GroupRow row;
  size_t users = 0;
};
struct GroupViews {
  std::vector<GroupView> groups;
};

using AccessCommands = TypeList<PutUser, DropUser, PutGroup, DropGroup>;
using AccessQuestions = TypeList<DescribeUsers, DescribeGroups>;
using AccessAnswers = TypeList<UserViews, GroupViews>;

}  // namespace hodei::core

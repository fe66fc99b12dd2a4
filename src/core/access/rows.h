// What is stored about people and programs that use Hodei: users, and the groups that they belong to.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "src/base/time.h"
#include "src/core/rows/row.h"

namespace hodei::core {

// Somebody who may be the principal of a command. Until there is access control, a client says itself who it is.
struct UserRow {
  std::string name;
  std::string display_name;
  std::vector<std::string> groups;  // names, sorted
  WallTime first_seen;              // when the row was made
  WallTime last_seen;               // of the newest command, to the hour

  bool operator==(const UserRow&) const = default;
};

struct GroupRow {
  std::string name;
  std::string description;

  bool operator==(const GroupRow&) const = default;
};

std::string encode(const UserRow& row);
UserRow decode_user(std::string_view bytes);
std::string encode(const GroupRow& row);
GroupRow decode_group(std::string_view bytes);

absl::Status validate(const UserRow& row);
absl::Status validate(const GroupRow& row);

inline constexpr size_t kMaxUsers = 10'000;
inline constexpr size_t kMaxGroups = 1'000;
inline constexpr size_t kMaxGroupsOfUser = 100;
inline constexpr size_t kMaxDisplayName = 200;  // characters; also of a description

template <>
struct RowType<UserRow> : RowDefaults {
  static constexpr std::string_view table = "user_account";  // `user` is a word of SQL
  static constexpr auto columns =
      std::tuple(column::key("name", &UserRow::name), column::whole<UserRow, decode_user>("bytes"));
};

template <>
struct RowType<GroupRow> : RowDefaults {
  static constexpr std::string_view table = "user_group";
  static constexpr auto columns =
      std::tuple(column::key("name", &GroupRow::name), column::whole<GroupRow, decode_group>("bytes"));
};

using AccessRows = TypeList<GroupRow, UserRow>;

}  // namespace hodei::core

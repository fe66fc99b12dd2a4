#include "src/core/access/access.h"

#include <algorithm>

#include "src/base/counted.h"
#include "src/base/hash.h"
#include "src/base/status.h"

namespace hodei::core {
namespace {

constexpr Duration kSeenEvery = std::chrono::hours(1);

absl::Status no_user(const std::string& name) { return absl::NotFoundError(cat("user '", name, "' does not exist")); }

}  // namespace

Answer Access::decide(const PutUser& c, Turn& turn) {
  RETURN_IF_ERROR(validate(c.row));
  for (const std::string& group : c.row.groups) {
    if (!groups_.contains(group)) return bad_field("groups", "group '", group, "' does not exist");
  }
  const auto known = users_.find(c.row.name);
  if (known == users_.end() && users_.size() >= kMaxUsers) {
    return absl::ResourceExhaustedError(cat("there are already ", kMaxUsers, " users, which is the limit"));
  }
  UserRow row = c.row;
  std::sort(row.groups.begin(), row.groups.end());
  row.groups.erase(std::unique(row.groups.begin(), row.groups.end()), row.groups.end());
  row.first_seen = known == users_.end() ? turn.wall() : known->second.first_seen;
  row.last_seen = known == users_.end() ? WallTime{} : known->second.last_seen;
  if (known != users_.end() && known->second == row) return UserViews{{row}};
  turn.write(Put<UserRow>(row));
  audit_.record_act({"user.set", row.name, cat("in ", counted(row.groups.size(), "group"))}, turn);
  return UserViews{{row}};
}

Answer Access::decide(const DropUser& c, Turn& turn) {
  if (!users_.contains(c.name)) return no_user(c.name);
  turn.write(Erase<UserRow>{c.name});
  audit_.record_act({"user.removed", c.name}, turn);
  return Done{};
}

Answer Access::decide(const PutGroup& c, Turn& turn) {
  RETURN_IF_ERROR(validate(c.row));
  const auto known = groups_.find(c.row.name);
  if (known == groups_.end() && groups_.size() >= kMaxGroups) {
    return absl::ResourceExhaustedError(cat("there are already ", kMaxGroups, " groups, which is the limit"));
  }
  if (known != groups_.end() && known->second == c.row) return Done{};
  turn.write(Put<GroupRow>(c.row));
  audit_.record_act({"group.set", c.row.name}, turn);
  return Done{};
}

Answer Access::decide(const DropGroup& c, Turn& turn) {
  if (!groups_.contains(c.name)) return absl::NotFoundError(cat("group '", c.name, "' does not exist"));
  if (const size_t users = users_in(c.name); users > 0) {
    return absl::FailedPreconditionError(
        cat("group '", c.name, "' still has ", counted(users, "user"), "; remove them from it first"));
  }
  turn.write(Erase<GroupRow>{c.name});
  audit_.record_act({"group.removed", c.name}, turn);
  return Done{};
}

Answer Access::decide(const DescribeUsers& q, Turn&) const {
  if (!q.name.empty() && !users_.contains(q.name)) return no_user(q.name);
  UserViews out;
  for (const auto& [name, row] : users_) {
    if (q.name.empty() || q.name == name) out.users.push_back(row);
  }
  return out;
}

Answer Access::decide(const DescribeGroups&, Turn&) const {
  GroupViews out;
  for (const auto& [name, row] : groups_) out.groups.push_back({row, users_in(name)});
  return out;
}

size_t Access::users_in(const std::string& group) const {
  return static_cast<size_t>(std::count_if(users_.begin(), users_.end(), [&](const auto& user) {
    return std::ranges::binary_search(user.second.groups, group);
  }));
}

void Access::note_principal(Turn& turn) {
  if (users_.empty() || turn.envelope().principal.empty()) return;
  const auto known = users_.find(turn.envelope().principal.name);
  if (known == users_.end()) return;
  const Duration since = turn.wall() - known->second.last_seen;
  if (known->second.last_seen.is_set() && since >= Duration(0) && since < kSeenEvery) return;
  UserRow row = known->second;
  row.last_seen = turn.wall();
  turn.write(Put<UserRow>(std::move(row)));
}

uint64_t Access::digest() const {
  uint64_t sum = 0;
  for (const auto& [name, row] : users_) sum += hash64(encode(row));
  for (const auto& [name, row] : groups_) sum += hash64(encode(row));
  return sum;
}

}  // namespace hodei::core

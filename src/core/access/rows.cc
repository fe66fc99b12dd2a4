#include "src/core/access/rows.h"

#include <algorithm>

#include "src/base/codec.h"
#include "src/base/ids.h"
#include "src/base/status.h"

namespace hodei::core {

std::string encode(const UserRow& row) {
  Encoder out;
  out.text(row.name).text(row.display_name).i64(row.first_seen.us).i64(row.last_seen.us).u64(row.groups.size());
  for (const std::string& group : row.groups) out.text(group);
  return out.take();
}

UserRow decode_user(std::string_view bytes) {
  Decoder in(bytes);
  UserRow row;
  row.name = in.text();
  row.display_name = in.text();
  row.first_seen.us = in.i64();
  row.last_seen.us = in.i64();
  const uint64_t groups = std::min<uint64_t>(in.u64(), kMaxGroupsOfUser);
  for (uint64_t i = 0; i < groups && in.ok(); ++i) row.groups.emplace_back(in.text());
  return row;
}

std::string encode(const GroupRow& row) { return Encoder().text(row.name).text(row.description).take(); }

GroupRow decode_group(std::string_view bytes) {
  Decoder in(bytes);
  GroupRow row;
  row.name = in.text();
  row.description = in.text();
  return row;
}

absl::Status validate(const UserRow& row) {
  RETURN_IF_ERROR(check_name("name", row.name));
  if (row.display_name.size() > kMaxDisplayName) {
    return bad_field("display_name", "must have at most ", kMaxDisplayName, " characters");
  }
  if (row.groups.size() > kMaxGroupsOfUser) {
    return bad_field("groups", "must have at most ", kMaxGroupsOfUser, " entries, not ", row.groups.size());
  }
  return absl::OkStatus();
}

absl::Status validate(const GroupRow& row) {
  RETURN_IF_ERROR(check_name("name", row.name));
  if (row.description.size() > kMaxDisplayName) {
    return bad_field("description", "must have at most ", kMaxDisplayName, " characters");
  }
  return absl::OkStatus();
}

}  // namespace hodei::core

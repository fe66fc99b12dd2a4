// Providers and pools between protobuf and the plain structs inside.
#pragma once

#include "absl/status/statusor.h"
#include "hodei/v1/provider_service.pb.h"
#include "src/base/time.h"
#include "src/core/commands.h"
#include "src/providers/provider.h"

namespace hodei::api {

absl::StatusOr<core::ProviderRow> from_proto(const v1::ProviderConfig& in);
// The row with the changes that were asked for.
absl::StatusOr<core::ProviderRow> changed(core::ProviderRow row, const v1::UpdateProviderRequest& in);
absl::StatusOr<core::PoolRow> from_proto(const v1::Pool& in);

// Options that look like secrets are shown as ***.
void to_proto(const core::ProviderView& view, Now now, v1::Provider* out);
void to_proto(const providers::Health& health, WallTime checked, v1::ProviderHealth* out);
void to_proto(const core::PoolView& view, v1::Pool* out);

bool looks_secret(std::string_view option);

}  // namespace hodei::api

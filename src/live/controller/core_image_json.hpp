// The decision core's image as JSON: part of the live scheduler's snapshots.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "core/scheduler/core_image.hpp"

namespace goban::live::controller {

/// Exact: the image read back is equal bit for bit. Members with their default value are omitted.
[[nodiscard]] nlohmann::json to_json(const core::scheduler::CoreImage& image);
/// Errors: BadData naming the member that has the wrong type, or if the version is newer. Unknown
/// members are ignored. Core::restore() checks whether ids exist in the cluster.
[[nodiscard]] base::Result<core::scheduler::CoreImage> parse_core_image(const nlohmann::json& from);

}  // namespace goban::live::controller

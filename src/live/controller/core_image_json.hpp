// The decision core's image as JSON: part of the live scheduler's snapshots.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "core/scheduler/core_image.hpp"

namespace goban::live::controller {

/// Exact: what is read back is equal to the bit. Members that have their default are left out.
[[nodiscard]] nlohmann::json to_json(const core::scheduler::CoreImage& image);
/// Errors: BadData naming the member that is no value of its type, or if the version is newer.
/// Members that are not known are passed over. Whether ids fit the cluster is checked by
/// Core::restore().
[[nodiscard]] base::Result<core::scheduler::CoreImage> parse_core_image(const nlohmann::json& from);

}  // namespace goban::live::controller

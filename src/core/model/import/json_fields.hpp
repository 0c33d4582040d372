// Small steps into JSON documents of other programs, where any field may be missing or odd.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace goban::core::model {

/// The document. Errors: BadData with the line.
[[nodiscard]] base::Result<nlohmann::json> parse_json(std::string_view text,
                                                      const std::string& file);

/// A member of an object; null if there is none.
[[nodiscard]] const nlohmann::json* member(const nlohmann::json& value, std::string_view key);
/// A member that is a string, or "".
[[nodiscard]] std::string text_of(const nlohmann::json& value, std::string_view key);

}  // namespace goban::core::model

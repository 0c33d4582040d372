// What of a submission can be sent: JSON holds UTF-8 alone, and what is something else must not
// reach the job changed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::cli {

[[nodiscard]] bool is_utf8(std::string_view text);

/// `name`: as messages call the script. Errors: BadData with the line of the first byte that is no
/// UTF-8.
[[nodiscard]] base::Status check_script(std::string_view script, const std::string& name);
/// Errors: BadData naming the argument.
[[nodiscard]] base::Status check_arguments(const std::vector<std::string>& arguments);
/// All texts of the body. Errors: BadData naming the member.
[[nodiscard]] base::Status check_body(const nlohmann::json& body);

}  // namespace goban::cli

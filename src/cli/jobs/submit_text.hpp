// Checks that a submission is valid UTF-8. JSON requires it, and other bytes must not reach the job
// altered.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::cli {

[[nodiscard]] bool is_utf8(std::string_view text);

/// `name`: of the script, for messages. Errors: BadData with the line of the first byte that is not
/// valid UTF-8.
[[nodiscard]] base::Status check_script(std::string_view script, const std::string& name);
/// Errors: BadData naming the argument.
[[nodiscard]] base::Status check_arguments(const std::vector<std::string>& arguments);
/// Checks all strings of the body. Errors: BadData naming the member.
[[nodiscard]] base::Status check_body(const nlohmann::json& body);

}  // namespace goban::cli

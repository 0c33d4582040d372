// Parts of a request's target.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace goban::base::http {

struct Target {
  std::string path{};  ///< not decoded
  std::map<std::string, std::string> query{};
};

/// Splits at "?" and decodes the query. nullopt if an escape is malformed, or its value is not
/// UTF-8 or contains a control character.
[[nodiscard]] std::optional<Target> parse_target(std::string_view target);

/// The segments of a path, decoded: "/v1/jobs/7" is {"v1", "jobs", "7"}; "/" is {""}. nullopt if an
/// escape is malformed, a segment is "." or "..", or it contains a slash or control character.
[[nodiscard]] std::optional<std::vector<std::string>> path_segments(std::string_view path);

/// Valid UTF-8 (no surrogates, no overlong forms) without control characters.
[[nodiscard]] bool is_plain_text(std::string_view text);

}  // namespace goban::base::http

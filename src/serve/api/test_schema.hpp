// Checks responses against the description of the API, for tests. Implements the parts of JSON
// Schema that openapi.json uses.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/http/http_message.hpp"

namespace goban::serve::api {

/// openapi.json, parsed once.
[[nodiscard]] const nlohmann::json& openapi();
/// The schema with references resolved.
[[nodiscard]] const nlohmann::json& resolved(const nlohmann::json& schema);
/// Empty if `value` matches the schema, otherwise the place and the reason.
[[nodiscard]] std::string schema_problem(const nlohmann::json& reference,
                                         const nlohmann::json& value,
                                         const std::string& where = "");
/// Empty if the description allows this response to this request. Paths that it does not describe
/// must be answered with 404 or 400, methods that it does not describe with 405.
[[nodiscard]] std::string answer_problem(const base::http::Request& request,
                                         const base::http::Response& response);

}  // namespace goban::serve::api

// Answers against the API's own description, for tests: the parts of JSON Schema that openapi.json
// uses.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/http/http_message.hpp"

namespace goban::serve::api {

/// openapi.json, parsed once.
[[nodiscard]] const nlohmann::json& openapi();
/// The schema with references followed.
[[nodiscard]] const nlohmann::json& resolved(const nlohmann::json& schema);
/// Empty if `value` fits, else where and why not.
[[nodiscard]] std::string schema_problem(const nlohmann::json& schema, const nlohmann::json& value,
                                         const std::string& where = "");
/// Empty if the answer is one that the description knows for this request. Paths it does not know
/// must be answered with 404 or 400, methods it does not know with 405.
[[nodiscard]] std::string answer_problem(const base::http::Request& request,
                                         const base::http::Response& response);

}  // namespace goban::serve::api

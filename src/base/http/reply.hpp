// Responses of the API: JSON documents, and errors in a uniform format.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/http/http_message.hpp"
#include "base/result.hpp"

namespace goban::base::http {

/// A JSON response. Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] Response reply(const nlohmann::json& document);

/// {"error": {"message", "field", "remedy"}}.
[[nodiscard]] Response refusal(int status, const base::Error& error);
[[nodiscard]] Response refusal(int status, std::string message, std::string remedy = {},
                               std::string field = {});

}  // namespace goban::base::http

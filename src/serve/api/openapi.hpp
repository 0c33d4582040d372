// The description of the API: src/serve/api/openapi.json, embedded in the program.
#pragma once

#include <string_view>

namespace goban::serve::api {

[[nodiscard]] std::string_view openapi_document();

}  // namespace goban::serve::api

// The description of the API, src/service/openapi.json, as it is compiled in.
#pragma once

#include <string_view>

namespace goban::service {

[[nodiscard]] std::string_view openapi_document();

}  // namespace goban::service

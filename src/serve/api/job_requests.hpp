// What handlers of requests about jobs share.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "live/controller/input.hpp"
#include "serve/api/caller.hpp"

namespace goban::serve::api {

[[nodiscard]] live::controller::Caller caller_of(const Identity& who, bool may);
/// Errors: Usage if the caller may not give a job this priority.
[[nodiscard]] base::Status check_priority(int32_t priority, const Identity& who);
/// Calls `take` with the parts of "a,b,c".
void each_part(std::string_view text, const std::function<void(std::string_view)>& take);
[[nodiscard]] base::Error unknown_job_error(const std::string& name);

}  // namespace goban::serve::api

#include "serve/api/job_requests.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "serve/api/api.hpp"

namespace goban::serve::api {

live::controller::Caller caller_of(const Identity& who, bool may) {
  return {
      .uid = who.owner.uid, .user = who.owner.user, .is_operator = may, .realm = who.owner.realm};
}

base::Status check_priority(int32_t priority, const Identity& who) {
  if (priority <= who.priority_max) return {};
  return base::failure(
      base::Error{.code = base::ErrorCode::Usage,
                  .message = fmt::format("priority {} is above {}, the maximum of your role",
                                         priority, who.priority_max),
                  .place = {.file = {}, .line = 0, .column = 0, .field = "priority"},
                  .remedy = "choose a lower one, or ask an operator"});
}

void each_part(std::string_view text, const std::function<void(std::string_view)>& take) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

base::Error unknown_job_error(const std::string& name) {
  return {.code = base::ErrorCode::Failed,
          .message = fmt::format("there is no job {}", name),
          .place = {},
          .remedy = "goban history jobs lists finished jobs"};
}

int status_of_refusal(const live::loop::SchedulerClient& scheduler,
                      const live::controller::Input& input, const base::Error& error, int wrong) {
  const bool fits = error.code == base::ErrorCode::Failed && scheduler.check(input).has_value();
  return fits ? base::http::kUnavailable : wrong;
}

}  // namespace goban::serve::api

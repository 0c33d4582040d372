#include "live/job/request_setters.hpp"

#include <fmt/format.h>

#include "base/number.hpp"

namespace goban::live::job {

using base::Status;

Status set_priority(SubmitDirectives& request, std::string_view value) {
  constexpr int64_t kMost = 1'000'000'000;
  const auto number = base::parse_int(value);
  if (!number || *number < -kMost || *number > kMost) {
    return base::bad_data({}, fmt::format("'{}' is not a valid priority", value),
                          "write an integer; jobs with larger values go first");
  }
  request.spec.priority = static_cast<int32_t>(*number);
  return {};
}

Status set_nodes(SubmitDirectives& request, std::string_view value) {
  const size_t dash = value.find('-');
  const auto least = parse_count(value.substr(0, dash), 1);
  if (!least) return base::failure(least.error());
  if (dash != std::string_view::npos) {
    const auto most = parse_count(value.substr(dash + 1), *least);
    if (!most) return base::failure(most.error());
    request.notes.push_back(
        fmt::format("of {} nodes the minimum is used: jobs do not grow", value));
  }
  request.nodes = *least;
  return {};
}

Status set_array(SubmitDirectives& request, std::string_view value) {
  auto array = parse_array(value);
  if (!array) return base::failure(array.error());
  request.array_tasks = std::move(array->tasks);
  request.spec.array_limit = array->limit;
  return {};
}

Status set_dependencies(SubmitDirectives& request, std::string_view value) {
  auto dependencies = parse_dependencies(value);
  if (!dependencies) return base::failure(dependencies.error());
  request.spec.dependencies = std::move(*dependencies);
  return {};
}

Status set_rerunnable(SubmitDirectives& request, std::string_view value) {
  const bool yes = value == "y" || value == "yes";
  if (!yes && value != "n" && value != "no") {
    return base::bad_data({}, fmt::format("'{}' is not a valid choice", value), "write y or n");
  }
  request.spec.requeue = yes;
  return {};
}

Status set_resource_type(SubmitDirectives& request, std::string_view name, std::string_view count) {
  const auto instances = count.empty() ? base::Result<int32_t>(1) : parse_count(count, 1);
  if (!instances) return base::failure(instances.error());
  auto text = checked_text(name);
  if (!text) return base::failure(text.error());
  request.spec.resource_type = std::move(*text);
  request.spec.instances = *instances;
  request.nodes = -1;
  return {};
}

}  // namespace goban::live::job

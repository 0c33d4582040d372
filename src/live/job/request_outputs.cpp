// Output file names of other batch systems.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "live/job/request_values.hpp"

namespace goban::live::job {
namespace {

struct Variable {
  std::string_view name;
  std::string_view pattern;
};
/// Longer names precede their own prefixes.
constexpr auto kVariables = std::to_array<Variable>({{"$PBS_JOBNAME", "%x"},
                                                     {"$PBS_JOBID", "%j"},
                                                     {"$PBS_ARRAY_INDEX", "%a"},
                                                     {"$PBS_ARRAYID", "%a"},
                                                     {"^array_index^", "%a"},
                                                     {"$JOB_NAME", "%x"},
                                                     {"$JOB_ID", "%j"},
                                                     {"$TASK_ID", "%a"},
                                                     {"$USER", "%u"}});

}  // namespace

std::string slurm_output(SubmitDirectives& request, std::string_view path) {
  std::string out;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%' || i + 1 == path.size()) {
      out += path[i];
      continue;
    }
    const char kind = path[++i];
    if (kind == 'J') {
      out += "%j";
    } else if (std::string_view("%jxuaA").find(kind) != std::string_view::npos) {
      out += fmt::format("%{}", kind);
    } else {
      request.notes.push_back(fmt::format("'%{}' in the file name '{}' is removed", kind, path));
    }
  }
  return out;
}

std::string batch_output(SubmitDirectives& request, std::string_view path) {
  const size_t colon = path.find(':');
  if (colon != std::string_view::npos && colon < path.find('/')) path.remove_prefix(colon + 1);
  std::string out;
  while (!path.empty()) {
    const auto found =
        std::find_if(kVariables.begin(), kVariables.end(),
                     [&](const Variable& each) { return path.starts_with(each.name); });
    if (found != kVariables.end()) {
      out += found->pattern;
      path.remove_prefix(found->name.size());
      continue;
    }
    if (path.front() == '%') out += '%';
    if (path.front() == '$') {
      request.notes.push_back(
          fmt::format("the variable in the file name '{}' is not replaced", path));
    }
    out += path.front();
    path.remove_prefix(1);
  }
  return out;
}

}  // namespace goban::live::job

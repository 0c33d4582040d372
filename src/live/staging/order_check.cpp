#include "live/staging/order_check.hpp"

#include <filesystem>
#include <fmt/format.h>

#include "base/printable.hpp"
#include "live/job/stage_paths.hpp"

namespace goban::live::staging {

namespace {

std::string parent_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

}  // namespace

std::string order_problem(const StageOrder& order) {
  const auto wrong = [](const std::string& path) -> std::string {
    const std::string problem =
        path.starts_with('/') ? job::stage_path_problem(path) : "is not absolute";
    return problem.empty() ? problem : fmt::format("{} {}", base::printable(path), problem);
  };
  if (const std::string problem = wrong(order.folder); !problem.empty()) return problem;
  const bool is_on_tier = order.task == StageTask::Remove || order.task == StageTask::Look;
  const bool needs_folder = order.task != StageTask::Measure && order.task != StageTask::Remove;
  const std::string jobs = order.folder + "/jobs";
  if (needs_folder && (!wrong(order.job_folder).empty() || parent_of(order.job_folder) != jobs)) {
    return fmt::format("{} is not a folder in {}", base::printable(order.job_folder), jobs);
  }
  if (order.task == StageTask::Remove && order.paths.size() != 1) return "one path is removed";
  for (const StagePath& path : order.paths) {
    if (!is_on_tier) {
      if (const std::string problem = wrong(path.from); !problem.empty()) return problem;
    }
    if (order.task == StageTask::Measure) continue;
    if (const std::string problem = wrong(path.to); !problem.empty()) return problem;
    const bool is_data = parent_of(parent_of(path.to)) == order.folder + "/in";
    if (order.task != StageTask::Out && !is_data) {
      return fmt::format("{} is not data in {}/in", base::printable(path.to), order.folder);
    }
  }
  return {};
}

}  // namespace goban::live::staging

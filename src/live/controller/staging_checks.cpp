#include "live/controller/staging_checks.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <string>

#include "live/job/stage_paths.hpp"

namespace goban::live::controller {

using core::model::JobId;

namespace {

/// Results that would take each other's place, or could never be copied. Empty: none.
std::string stage_out_problem(const job::JobSpec& spec) {
  const auto place = [](const job::JobSpec& each, JobId id, const std::string& to) {
    return job::stage_path(to, each.work_folder, id, each);
  };
  const JobId id(0U);
  std::set<std::string> places;
  for (const job::StageOut& each : spec.stage_out) {
    const std::filesystem::path from = std::filesystem::path(each.from + "/").lexically_normal();
    if (!spec.stage_in.empty() && (from == "." || from == "in/")) {
      return fmt::format(
          "'{}' has links to the staged data in it, which are no results; name what "
          "the job writes",
          each.from);
    }
    const std::string to = place(spec, id, each.to);
    for (const std::string& other : places) {
      if (to == other || to.starts_with(other + "/") || other.starts_with(to + "/")) {
        return fmt::format("'{}' and '{}' are the same place, or one lies in the other", other, to);
      }
    }
    places.insert(to);
    if (spec.array_task < 0) continue;
    job::JobSpec next = spec;
    ++next.array_task;
    if (place(next, JobId(1U), each.to) == to) {
      return fmt::format("'{}' is the same place for all tasks of the array: it needs %a or %j",
                         each.to);
    }
  }
  return {};
}

}  // namespace

base::Status check_staging(const job::JobSpec& spec, const Site& site) {
  constexpr size_t kPathsMax = 64;
  const auto refuse = [](const char* field, std::string message, std::string remedy) {
    return base::bad_data({.file = {}, .line = 0, .column = 0, .field = field}, std::move(message),
                          std::move(remedy));
  };
  if (!stages(spec)) return {};
  const char* field = spec.stage_in.empty() ? "stage_out" : "stage_in";
  if (!site.staging.fast) {
    return refuse(field, "this site has no fast storage tier",
                  "omit --stage-in and --stage-out, or ask an operator to set tiers");
  }
  if (!spec.owner.realm.empty() && !site.staging.others) {
    return refuse(field, "its user is unknown on this machine",
                  "ask an operator to set staging.user");
  }
  if (spec.stage_in.size() + spec.stage_out.size() > kPathsMax) {
    return refuse(field, fmt::format("names more than {} paths", kPathsMax),
                  "name folders instead of their files");
  }
  const auto check = [&](const char* name, const std::string& path) -> base::Status {
    const std::string problem = job::stage_path_problem(path);
    if (!problem.empty()) return refuse(name, fmt::format("the path {}", problem), "write another");
    if (path.starts_with('/') || !spec.work_folder.empty()) return {};
    return refuse(name, fmt::format("'{}' is relative, and there is no work folder", path),
                  "write an absolute path");
  };
  for (const std::string& path : spec.stage_in) {
    if (auto status = check("stage_in", path); !status) return status;
  }
  for (const job::StageOut& each : spec.stage_out) {
    if (auto status = check("stage_out", each.to); !status) return status;
    if (const std::string problem = job::stage_path_problem(each.from); !problem.empty()) {
      return refuse("stage_out", fmt::format("the path {}", problem), "write another");
    }
  }
  const std::string problem = stage_out_problem(spec);
  return problem.empty() ? base::Status{}
                         : refuse("stage_out", problem, "give each result a place of its own");
}

}  // namespace goban::live::controller

#include "live/job/job_spec.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace goban::live::job {

namespace {

constexpr std::array<std::string_view, 4> kDependencyNames = {"after", "afterany", "afterok",
                                                              "afternotok"};

}  // namespace

std::string_view dependency_name(DependencyKind kind) {
  return kDependencyNames[static_cast<size_t>(kind)];
}

std::optional<DependencyKind> parse_dependency_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kDependencyNames, name);
  if (found == kDependencyNames.end()) return std::nullopt;
  return static_cast<DependencyKind>(found - kDependencyNames.begin());
}

std::string job_name_of(JobId job, const JobSpec& spec) {
  if (spec.array_task < 0) return fmt::format("{}", job_number(job));
  return fmt::format("{}_{}", job_number(spec.array_first), spec.array_task);
}

}  // namespace goban::live::job

#include "live/job/output_path.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

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

std::string without_slashes(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

std::string in_work_folder(const JobSpec& spec, std::string path) {
  if (path.starts_with('/') || spec.work_folder.empty()) return path;
  return spec.work_folder + (spec.work_folder.ends_with('/') ? "" : "/") + path;
}

}  // namespace

std::string filled_pattern(const std::string& pattern, JobId job, const JobSpec& spec) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      out += pattern[i];
      continue;
    }
    switch (const char kind = pattern[++i]; kind) {
      case 'j':
        out += job_name_of(job, spec);
        break;
      case 'A':
        out += fmt::format("{}", job_number(spec.array_first.valid() ? spec.array_first : job));
        break;
      case 'a':
        out += fmt::format("{}", std::max(spec.array_task, 0));
        break;
      case 'x':
        out += without_slashes(spec.name.empty() ? "goban" : spec.name);
        break;
      case 'u':
        out += without_slashes(spec.owner.user);
        break;
      case '%':
        out += '%';
        break;
      default:
        out += '%';
        out += kind;
        break;
    }
  }
  return out;
}

std::string output_path(JobId job, const JobSpec& spec, OutputStream stream) {
  std::string pattern = spec.stdout_path.empty() ? "goban-%j.out" : spec.stdout_path;
  if (stream == OutputStream::Stderr && !spec.stderr_path.empty()) pattern = spec.stderr_path;
  return in_work_folder(spec, filled_pattern(pattern, job, spec));
}

std::string input_path(JobId job, const JobSpec& spec) {
  if (spec.stdin_path.empty()) return {};
  return in_work_folder(spec, filled_pattern(spec.stdin_path, job, spec));
}

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

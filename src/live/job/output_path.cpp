#include "live/job/output_path.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace goban::live::job {

namespace {
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

}  // namespace goban::live::job

#include "live/job/stage_paths.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "live/job/output_path.hpp"

namespace goban::live::job {

std::string stage_path_problem(std::string_view path) {
  constexpr size_t kPathMax = 4'096;
  if (path.empty()) return "is empty";
  if (path.size() > kPathMax) return fmt::format("is longer than {} bytes", kPathMax);
  if (path.find('\0') != std::string_view::npos) return "contains a NUL character";
  const bool has_control =
      std::ranges::any_of(path, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (has_control) return "contains a control character";
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    if (path.substr(0, end) == "..") return "contains .., which could leave its folder";
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return {};
}

base::Result<StageOut> parse_stage_out(std::string_view text) {
  constexpr const char* kForm = "write FROM:TO, such as results:/lustre/me/results-%j";
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) {
    return base::bad_data({}, fmt::format("'{}' is not of the form FROM:TO", text), kForm);
  }
  StageOut out{.from = std::string(text.substr(0, colon)),
               .to = std::string(text.substr(colon + 1))};
  for (const std::string* path : {&out.from, &out.to}) {
    const std::string problem = stage_path_problem(*path);
    if (problem.empty()) continue;
    return base::bad_data({}, fmt::format("a path of '{}' {}", text, problem), kForm);
  }
  return out;
}

std::string read_stage_words(std::string_view text, JobSpec& spec) {
  constexpr std::string_view kIn = "stage-in=";
  constexpr std::string_view kOut = "stage-out=";
  constexpr std::string_view kOn = "stage-out-on=";
  JobSpec read;
  while (!text.empty()) {
    const size_t end = std::min(text.find(';'), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.starts_with(kIn)) {
      const std::string_view path = word.substr(kIn.size());
      std::string problem = stage_path_problem(path);
      if (problem.empty() && !path.starts_with('/')) problem = "is not absolute";
      if (!problem.empty()) return fmt::format("the path of stage-in {}", problem);
      read.stage_in.emplace_back(path);
    } else if (word.starts_with(kOut)) {
      auto out = parse_stage_out(word.substr(kOut.size()));
      if (!out) return "stage-out: " + out.error().message;
      if (!out->to.starts_with('/')) return "the path to stage out to is not absolute";
      read.stage_out.push_back(std::move(*out));
    } else if (word.starts_with(kOn)) {
      read.stage_out_always = word.substr(kOn.size()) == "always";
      if (!read.stage_out_always && word.substr(kOn.size()) != "success") {
        return "stage-out-on must be success or always";
      }
    }
  }
  spec.stage_in = std::move(read.stage_in);
  spec.stage_out = std::move(read.stage_out);
  spec.stage_out_always = read.stage_out_always;
  return {};
}

std::string stage_path(const std::string& path, const std::string& folder, JobId job,
                       const JobSpec& spec) {
  const std::string filled = filled_pattern(path, job, spec);
  std::string whole = filled.starts_with('/') ? filled : folder + "/" + filled;
  whole = std::filesystem::path(whole).lexically_normal().string();
  while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
  return whole;
}

}  // namespace goban::live::job

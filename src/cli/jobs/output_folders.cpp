#include "cli/jobs/output_folders.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <optional>

#include "base/printable.hpp"

namespace goban::cli {

using base::Status;

namespace {

/// The folder of an output file, if it can be told before the job has a number.
std::optional<std::filesystem::path> output_folder(const live::job::JobSpec& spec,
                                                   const std::string& pattern) {
  std::string path;
  const size_t end = std::min(pattern.rfind('/') + 1, pattern.size());
  for (size_t i = 0; i < end; ++i) {
    const char kind = pattern[i] == '%' && i + 1 < end ? pattern[i + 1] : '\0';
    if (kind == 'x') {
      std::string name = spec.name;
      std::ranges::replace(name, '/', '_');
      path += name;
    } else if (std::string_view("jAau").find(kind) != std::string_view::npos) {
      return std::nullopt;
    } else {
      path += pattern[i];
    }
    if (kind == 'x' || kind == '%') ++i;
  }
  // With a slash behind it, a file would count as absent.
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return (std::filesystem::path(spec.work_folder) / path).lexically_normal();
}

/// Refuses an output file whose folder is not there: the job would start only to fail. A job that
/// starts later, after another one perhaps, is warned about.
Status check_output_folder(const live::job::JobSpec& spec, const std::string& pattern) {
  namespace fs = std::filesystem;
  const auto folder = output_folder(spec, pattern);
  if (pattern.empty() || !folder) return {};
  std::error_code problem;
  // What the submitter may not see, the daemon may.
  const fs::file_type kind = fs::status(*folder, problem).type();
  const std::string shown = base::printable(folder->string());
  if (kind == fs::file_type::regular) {
    return base::bad_data(
        {}, fmt::format("the folder of the output file {} is a file", base::printable(pattern)),
        "name another with -o or -e");
  }
  if (kind != fs::file_type::not_found) return {};
  const std::string what =
      fmt::format("the folder of the output file {} does not exist", base::printable(pattern));
  const bool is_later = !spec.dependencies.empty() || spec.held || spec.begin_ns > 0;
  if (!is_later) return base::bad_data({}, what, fmt::format("mkdir -p {}", shown));
  fmt::print(stderr, "goban: warning: {} yet; the job fails if it is not there at its start\n",
             what);
  return {};
}

}  // namespace

void complete_output(std::string& path, const std::string& folder, const char* usual) {
  if (path.empty()) return;
  std::error_code ignored;
  const bool is_folder =
      std::filesystem::is_directory(std::filesystem::path(folder) / path, ignored);
  if (is_folder || path.back() == '/')
    path = fmt::format("{}{}{}", path, path.back() == '/' ? "" : "/", usual);
}

Status check_folders(const live::job::JobSpec& spec) {
  std::error_code problem;
  const auto kind = std::filesystem::status(spec.work_folder, problem).type();
  const bool is_file = kind == std::filesystem::file_type::regular;
  if (is_file || kind == std::filesystem::file_type::not_found) {
    return base::bad_data({},
                          fmt::format("the work folder {} {}", base::printable(spec.work_folder),
                                      is_file ? "is a file" : "does not exist"),
                          "create it, or give another with --chdir");
  }
  if (auto fine = check_output_folder(spec, spec.stdout_path); !fine) return fine;
  return check_output_folder(spec, spec.stderr_path);
}

}  // namespace goban::cli

// goban shims: writes sbatch, squeue and others of Slurm's commands, for a site of one machine.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>

#include "base/output_file.hpp"
#include "base/shell_word.hpp"
#include "base/text_file.hpp"
#include "cli/shell/commands.hpp"
#include "cli/shell/installation.hpp"

namespace goban::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array kShims = {"sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo", "sacct"};
/// Marks our own files, which are written again.
constexpr const char* kMark = "# Written by goban shims.";
constexpr const char* kScript = "goban_slurm.py";

base::Status write_shim(const fs::path& path, const char* name, const std::string& script) {
  constexpr size_t kShimBytesMax = size_t{1} << 20;
  std::error_code none;
  if (fs::exists(fs::symlink_status(path, none))) {
    const auto before = base::read_text_file(path.string(), kShimBytesMax);
    if (!before || before->find(kMark) == std::string::npos) {
      return base::failed(fmt::format("{} exists and is not ours", path.string()),
                          "write the commands to a folder of their own");
    }
  }
  std::error_code problem;
  const fs::path folder = fs::absolute(path, problem).lexically_normal().parent_path();
  const std::string text = fmt::format(
      "#!/bin/sh\n{}\nexport GOBAN_PROGRAM=\"${{GOBAN_PROGRAM:-{}}}\"\nexport GOBAN_SHIMS={}\n"
      "exec python3 {} {} \"$@\"\n",
      kMark, program_path(), base::shell_quoted(folder.string()), base::shell_quoted(script), name);
  if (auto written = base::write_file(path.string(), text); !written) return written;
  fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                  fs::perm_options::add, none);
  return {};
}

int write_shims(const std::string& folder) {
  const std::string script = python_folder() + "/" + kScript;
  std::error_code problem;
  if (!fs::exists(script, problem)) {
    return report_error({base::ErrorCode::Failed,
                         fmt::format("cannot find {}", script),
                         {},
                         "install it with the program, or set GOBAN_PYTHON to its folder"});
  }
  fs::create_directories(folder, problem);
  for (const char* name : kShims) {
    const auto written = write_shim(fs::path(folder) / name, name, script);
    if (!written) return report_error(written.error());
  }
  const std::string path = fs::absolute(folder, problem).lexically_normal().string();
  fmt::print("wrote {} commands to {}\nexport PATH={}:$PATH\n", kShims.size(), folder,
             base::shell_quoted(path));
  return 0;
}

}  // namespace

void add_shims(Command& app, Action& action) {
  auto folder = std::make_shared<std::string>();
  Command* c = app.add_subcommand("shims",
                                  "Install sbatch, srun, squeue, scancel, scontrol, sinfo and "
                                  "sacct commands that call this daemon");
  c->add_option("DIR", *folder, "Folder for the commands; created if absent")->required();
  c->footer(
      "For a single machine without Slurm: job scripts work unchanged. The commands need Python "
      "3.\n"
      "Files that goban did not write are not replaced. docs/from-slurm.md lists the "
      "differences.\n\n"
      "Examples:\n"
      "  goban shims ~/.local/lib/goban-slurm\n"
      "  export PATH=~/.local/lib/goban-slurm:$PATH; sbatch train.sh; squeue --me\n"
      "Exit codes: 0 success, 1 cannot write, 2 usage error.");
  c->callback([folder, &action] { action = [folder] { return write_shims(*folder); }; });
}

}  // namespace goban::cli

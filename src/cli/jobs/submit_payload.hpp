// Builds the submission request from script, directives and options.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/shell/options.hpp"
#include "live/job/submit_directives.hpp"

namespace goban::cli {

/// Options of the command line, in the order given: name as in the table, value.
using SubmitChoices = std::vector<std::pair<std::string, std::string>>;

/// Adds the options of live::job::submit_options() except those named in `without`, and those of
/// sbatch that have another name.
void add_submit_options(Command& command, const std::shared_ptr<SubmitChoices>& choices,
                        const std::vector<std::string_view>& without = {});

/// An error that names an unknown option, and the nearest of those above or of `more`; `usage` if
/// none is near.
[[nodiscard]] base::Error unknown_option(const std::string& word,
                                         std::vector<std::string_view> more,
                                         const std::string& usage);

/// A submission as given: its script and what the command line adds.
struct SubmitPayload {
  std::string script{};
  std::string script_name{};  ///< for messages: path or "stdin"
  std::string job_name{};     ///< default name of the job
  std::vector<std::string> arguments{};
  bool interactive = false;
  SubmitChoices options{};    ///< take precedence over directives of the script
  bool as_slurm = false;      ///< options and defaults mean what they mean to sbatch
  std::string script_path{};  ///< absolute, of a script that is a file; to be shown only
  /// The daemon runs on this machine, so that folders can be checked.
  bool is_here = true;
};

/// Reads the script at `path`, or standard input if it is "-". Errors: the script cannot be read,
/// is empty, contains a zero byte, or is larger than 1 MiB.
[[nodiscard]] base::Result<SubmitPayload> read_script(const std::string& path);

void print_warnings(const std::vector<std::string>& warnings);

/// The body of POST /v1/jobs. `manner`, if given: what the submitting command is asked to do.
/// `warnings`, if given: those about options, which are printed otherwise.
/// Prints warnings to stderr about directives and about variables that are omitted because they are
/// not valid UTF-8. Errors: those of directives, options and the environment; BadData if the script
/// or another value is not valid UTF-8, or the folder of an output file does not exist.
[[nodiscard]] base::Result<nlohmann::json> submission_json(
    const SubmitPayload& payload, live::job::SubmitManner* manner = nullptr,
    std::vector<std::string>* warnings = nullptr);

/// Whether the daemon that `server` names is on this machine: it is asked over a Unix socket.
[[nodiscard]] bool is_local(const std::string& server);

/// Submits the job. Returns its number, or the numbers of all tasks of an array.
[[nodiscard]] base::Result<std::vector<uint32_t>> submit(const std::string& server,
                                                         const nlohmann::json& body);

}  // namespace goban::cli

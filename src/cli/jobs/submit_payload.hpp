// Builds the submission request from script, directives and options.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/shell/options.hpp"
#include "live/job/directives.hpp"

namespace goban::cli {

/// Options of the command line, in the order given.
struct SubmitChoices {
  std::vector<std::pair<std::string, std::string>> options{};  ///< name as in the table, value
};

/// Adds the options of live::job::submit_options() except those named in `without`.
void add_submit_options(Command& command, const std::shared_ptr<SubmitChoices>& choices,
                        const std::vector<std::string_view>& without = {});

struct SubmitPayload {
  std::string script{};
  std::string script_name{};  ///< for messages: path or "stdin"
  std::string job_name{};     ///< default name of the job
  std::vector<std::string> arguments{};
  bool interactive = false;
};

/// Reads the script at `path`, or standard input if it is "-". Errors: the script cannot be read,
/// is empty, contains a zero byte, or is larger than 1 MiB.
[[nodiscard]] base::Result<SubmitPayload> read_script(const std::string& path);

/// The body of POST /v1/jobs. Prints warnings to stderr about directives and about variables that
/// are omitted because they are not valid UTF-8. Errors: those of directives, options and the
/// environment; BadData if the script or another value is not valid UTF-8.
[[nodiscard]] base::Result<nlohmann::json> submission_json(const SubmitPayload& payload,
                                                           const SubmitChoices& choices);

/// Submits the job. Returns its number, or the numbers of all tasks of an array.
[[nodiscard]] base::Result<std::vector<uint32_t>> submit(const std::string& server,
                                                         const nlohmann::json& body);

}  // namespace goban::cli

// From script, directives and options to what the daemon is asked for.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/shell/options.hpp"
#include "live/job/directives.hpp"

namespace goban::cli {

/// Options of the command line, as they were given.
struct SubmitChoices {
  std::vector<std::pair<std::string, std::string>> options{};  ///< name as in the table, value
};

/// Adds the options of live::job::submit_options(), but for those named in `without`.
void add_submit_options(Command& command, const std::shared_ptr<SubmitChoices>& choices,
                        const std::vector<std::string_view>& without = {});

struct SubmitPayload {
  std::string script{};
  std::string script_name{};  ///< as messages call it: path, "stdin"
  std::string job_name{};     ///< if nobody says another
  std::vector<std::string> arguments{};
  bool interactive = false;
};

/// The script at `path`, or of standard input if it is "-". Errors: cannot be read, is empty, is no
/// text, is over 1 MiB.
[[nodiscard]] base::Result<SubmitPayload> read_script(const std::string& path);

/// The body of POST /v1/jobs; warnings about directives, and variables that are left out because
/// they are no UTF-8, go to stderr. Errors: those of directives, options and the environment;
/// BadData if the script or anything else is no UTF-8.
[[nodiscard]] base::Result<nlohmann::json> submission_json(const SubmitPayload& payload,
                                                           const SubmitChoices& choices);

/// Hands it in. Returns the numbers of the jobs, several for an array.
[[nodiscard]] base::Result<std::vector<uint32_t>> submit(const std::string& server,
                                                         const nlohmann::json& body);

}  // namespace goban::cli

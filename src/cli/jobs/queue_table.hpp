// The table of goban queue.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/jobs/job_row.hpp"
#include "cli/shell/terminal_style.hpp"
#include "serve/api/api_client.hpp"

namespace goban::cli {

/// Number of jobs that goban queue and goban top show.
inline constexpr int64_t kQueueShown = 1'000;

/// `query` of GET /v1/jobs for at most `limit` jobs (0: all), running jobs first: the response,
/// with all jobs in "jobs".
[[nodiscard]] base::Result<nlohmann::json> ask_for_queue(serve::api::ApiClient& client,
                                                         const std::string& query, int64_t limit);

/// What the table shows, and how.
struct QueueView {
  double now_s = 0;                    ///< since 1970
  std::vector<std::string> columns{};  ///< names from queue_columns(); empty: the usual ones
  std::string sort{};  ///< a column, descending behind "-"; empty: running first, then by number
  bool each_task = false;  ///< otherwise tasks of an array that wait for the same are one row
  std::map<uint32_t, std::string> reasons{};   ///< by job: why it waits, in a word or two
  std::map<uint32_t, int32_t> array_limits{};  ///< by first job of an array: tasks at once
  size_t rows_max = 0;                         ///< 0: all
  TerminalStyle style{};
};

/// "job", "name", "state", ...
[[nodiscard]] std::vector<std::string> queue_columns();
/// Errors: Usage, naming the known columns.
[[nodiscard]] base::Status check_view(const QueueView& view);
/// Asks the daemon why the first jobs of the queue wait, and for the limits of collapsed arrays.
void ask_for_reasons(serve::api::ApiClient& client, const nlohmann::json& answer, QueueView& view);

/// The table of a response of ask_for_queue(). The last line counts all jobs; one before it says
/// how many are not shown.
[[nodiscard]] std::string queue_table(const nlohmann::json& answer, const QueueView& view);
/// Green for running and completed, yellow for held and blocked, red for failed.
[[nodiscard]] Colour colour_of(const JobRow& job);
/// The state, or the result of a finished job: "running", "completed".
[[nodiscard]] std::string state_text(const JobRow& job);

}  // namespace goban::cli

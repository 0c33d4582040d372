// What the daemon would expect of jobs that are not submitted.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "serve/api/api_client.hpp"

namespace goban::cli {

/// The requests to compare: each of the numbers of GPUs with each of the walltime limits.
struct ForecastQuestion {
  std::vector<int32_t> num_gpus{};
  std::vector<std::string> limits{};  ///< as in goban submit; empty: the site's default
  std::string name{};
  std::string model{};
  std::string account{};
  std::string partition{};
};

/// The jobs as in POST /v1/forecast. Errors: Usage if a limit is not a duration or there are too
/// many.
[[nodiscard]] base::Result<nlohmann::json> forecast_jobs(const ForecastQuestion& question);
/// The answer for jobs as in POST /v1/forecast. Errors: those of the client and the daemon.
[[nodiscard]] base::Result<nlohmann::json> ask_for_forecast(serve::api::ApiClient& client,
                                                            const nlohmann::json& jobs);
/// One line for each job.
[[nodiscard]] std::string forecast_table(const nlohmann::json& answer);

}  // namespace goban::cli

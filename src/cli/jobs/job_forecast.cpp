#include "cli/jobs/job_forecast.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/units.hpp"
#include "cli/jobs/field_words.hpp"
#include "cli/jobs/job_row.hpp"
#include "cli/jobs/live_client.hpp"
#include "cli/shell/text_table.hpp"

namespace goban::cli {

using nlohmann::json;

base::Result<json> forecast_jobs(const ForecastQuestion& question) {
  constexpr size_t kMost = 16;  // of the API
  json one = json::object();
  const auto put = [&one](const char* field, const std::string& value) {
    if (!value.empty()) one[field] = value;
  };
  put("name", question.name);
  put("model", question.model);
  put("account", question.account);
  put("partition", question.partition);
  json jobs = json::array();
  const std::vector<std::string> limits =
      question.limits.empty() ? std::vector<std::string>{""} : question.limits;
  for (const int32_t gpus : question.num_gpus) {
    for (const std::string& limit : limits) {
      json job = one;
      job["num_gpus"] = gpus;
      if (!limit.empty()) {
        const auto parsed = base::parse_duration(limit);
        if (!parsed || *parsed <= 0) {
          return base::usage_error(fmt::format("--time: {} is not a duration", limit),
                                   "write it as 2h, 90m or 1:30:00");
        }
        job["walltime_s"] = base::to_seconds(*parsed);
      }
      jobs.push_back(std::move(job));
    }
  }
  if (jobs.size() > kMost) {
    return base::usage_error(fmt::format("{} requests are compared", jobs.size()),
                             "name at most 16 in all");
  }
  return jobs;
}

base::Result<json> ask_for_forecast(serve::api::ApiClient& client, const json& jobs) {
  return post_json(client, "/v1/forecast", {{"jobs", jobs}});
}

std::string forecast_table(const json& answer) {
  TextTable table({{.title = "GPUS", .right = true},
                   {.title = "LIMIT", .right = true},
                   {.title = "STARTS ABOUT"},
                   {.title = "RUNS FOR"}});
  const double now_s = number_of(answer, "now_s");
  std::string refusals;
  for (const json& job : list_of(answer, "jobs")) {
    const double limit_s = number_of(job, "walltime_s");
    const json& start = part_of(job, "start");
    const bool at_once = start.is_object() && number_of(start, "p90_s", 1e18) <= now_s + 1;
    std::string when = at_once ? "at once" : start_text(start, now_s);
    if (when.empty()) when = "too far ahead to be forecast";
    if (const std::string error = text_of(job, "error"); !error.empty()) {
      when = "never: see below";
      refusals += fmt::format("{}: {}\n", base::counted(number_of(job, "num_gpus"), "GPU"),
                              printable(in_words_of_options(error)));
    }
    table.add({fmt::format("{:.0f}", number_of(job, "num_gpus")),
               limit_s > 0 ? clock_text(limit_s) : "-", printable(when),
               predicted_text(part_of(job, "predicted_run"))});
  }
  return table.text(output_style()) + refusals;
}

}  // namespace goban::cli

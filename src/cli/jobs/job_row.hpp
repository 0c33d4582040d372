// A job from the API, as the tables show it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace goban::cli {

struct JobRow {
  uint32_t job = 0;
  std::string id{};  ///< "7", or "7_2" for a task of an array
  std::string name{};
  std::string user{};
  std::string state{};   ///< held, depends, waiting, starting, running, stopping, done
  std::string result{};  ///< completed, failed, ...; empty = unfinished
  int32_t num_gpus = 0;
  double walltime_s = 0;  ///< 0 = no limit
  double submit_s = 0;
  double run_start_s = 0;  ///< 0 = never ran
  double end_s = 0;        ///< 0 = unfinished
  double held_s = 0;       ///< in finished runs
  std::string where{};     ///< "n1[0-3] n2[0]"
  int64_t position = 0;    ///< in the queue, from 1; 0 = none

  [[nodiscard]] bool is_over() const { return state == "done"; }
  [[nodiscard]] bool holds_gpus() const {
    return state == "starting" || state == "running" || state == "stopping";
  }
  /// Seconds on GPUs so far.
  [[nodiscard]] double ran_s(double now_s) const;
};

[[nodiscard]] JobRow job_row(const nlohmann::json& from);
/// The jobs of a response of GET /v1/jobs.
[[nodiscard]] std::vector<JobRow> job_rows(const nlohmann::json& answer);
/// A list of {"node", "index"} as "n1[0-3] n2[0]".
[[nodiscard]] std::string where_text(const nlohmann::json& gpus);
/// Seconds since 1970.
[[nodiscard]] double wall_clock_s();

}  // namespace goban::cli

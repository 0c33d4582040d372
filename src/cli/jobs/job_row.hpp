// A job from the API, as the tables show it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace goban::cli {

struct JobRow {
  uint32_t job = 0;
  std::string id{};         ///< "7", or "7_2" for a task of an array
  std::string engine_id{};  ///< in the cluster's own queue; empty: it was submitted to the daemon
  std::string name{};
  std::string user{};
  std::string state{};   ///< held, depends, waiting, starting, running, suspended, stopping, done
  std::string result{};  ///< completed, failed, ...; empty = unfinished
  int32_t num_gpus = 0;
  int32_t priority = 0;
  std::string account{};
  std::string partition{};
  std::string blocked{};  ///< why its dependencies or its request keep it from the queue
  double walltime_s = 0;  ///< 0 = no limit
  double begin_s = 0;     ///< not eligible before; 0 = at once
  double submit_s = 0;
  double run_start_s = 0;        ///< 0 = never ran
  double suspended_since_s = 0;  ///< 0 = it is not suspended
  double suspended_s = 0;        ///< earlier in the current run
  double end_s = 0;              ///< 0 = unfinished
  double held_s = 0;             ///< in finished runs
  std::string where{};           ///< "n1[0-3] n2[0]"
  std::string start{};           ///< when it is expected to start; empty: it does not wait
  double start_s = 0;            ///< the median of that; 0 = unknown
  int64_t position = 0;          ///< in the queue, from 1; 0 = none
  int32_t exit_code = -1;        ///< -1 = unfinished, never ran, or ended by a signal
  int32_t signal = 0;            ///< that ended it
  bool is_past = false;          ///< from the history; named by its id only
  std::string tasks{};     ///< of an array that this row stands for: "0-3,6"; empty: only itself
  int64_t num_tasks = 1;   ///< with `tasks`
  int64_t tasks_gpus = 0;  ///< with `tasks`: of all of them

  [[nodiscard]] bool is_over() const { return state == "done"; }
  [[nodiscard]] bool holds_gpus() const {
    return state == "starting" || state == "running" || state == "stopping" || state == "suspended";
  }
  /// Seconds on GPUs so far, without suspensions.
  [[nodiscard]] double ran_s(double now_s) const;
};

[[nodiscard]] JobRow job_row(const nlohmann::json& from);
/// The jobs of a response of GET /v1/jobs.
[[nodiscard]] std::vector<JobRow> job_rows(const nlohmann::json& answer);
/// A list of {"node", "index"} as "n1[0-3] n2[0]".
[[nodiscard]] std::string where_text(const nlohmann::json& gpus);
/// A forecast start: "14:30:00 (14:10:00 to 18:00:00)", empty if there is none.
[[nodiscard]] std::string start_text(const nlohmann::json& start, double now_s);
/// A predicted run time: "1.5 h (20.0 min to 3.0 h), from runs of this user".
[[nodiscard]] std::string predicted_text(const nlohmann::json& predicted);
/// Seconds since 1970.
[[nodiscard]] double wall_clock_s();

}  // namespace goban::cli

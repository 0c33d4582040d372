// JSON views of jobs.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "core/model/cluster.hpp"
#include "core/scheduler/core.hpp"
#include "live/controller/job_book.hpp"

namespace goban::serve::api {

[[nodiscard]] std::string_view stage_name(live::controller::JobStage stage);
/// The stage that users see: a held job is held, whatever else it waits for.
[[nodiscard]] live::controller::JobStage shown_stage(const live::controller::LiveJob& job);
[[nodiscard]] std::string_view result_name(live::controller::JobResult result);
[[nodiscard]] std::optional<live::controller::JobStage> find_stage(std::string_view name);

/// Of a finished job: "job 7 ended on 2026-12-01 08:00:00 UTC (completed)".
[[nodiscard]] std::string end_words(const live::controller::LiveJob& job);

/// GPUs of a job: those that an elastic job holds, else those that it requests.
[[nodiscard]] int32_t shown_gpus(const live::controller::LiveJob& job);
/// The public view of a job: its user, resource request and times, but none of the names and paths
/// that the owner chose.
[[nodiscard]] nlohmann::json job_summary(const live::controller::LiveJob& job,
                                         const core::model::Cluster& cluster);
/// The full view, including the job's specification.
[[nodiscard]] nlohmann::json job_details(const live::controller::LiveJob& job,
                                         const core::model::Cluster& cluster);

/// Without what the API does not show: the engine's measurement of busy time, and a loss below 0.
/// Empty if nothing was reported.
[[nodiscard]] nlohmann::json progress_json(live::ProgressReport progress);

/// Positions in the core's queue; 1 is next. Jobs that a limit of their account blocks have none.
[[nodiscard]] std::map<core::model::JobId, int64_t> queue_positions(
    const core::scheduler::Core& core);

/// An object {"gpu", "node", "index"} for each GPU.
[[nodiscard]] nlohmann::json gpu_list(const std::vector<core::model::GpuId>& gpus,
                                      const core::model::Cluster& cluster);

/// The job that a path names: "7", or "7_2" for task 2 of array 7. Null if there is none.
[[nodiscard]] const live::controller::LiveJob* find_job(const live::controller::JobBook& book,
                                                        std::string_view name);

}  // namespace goban::serve::api

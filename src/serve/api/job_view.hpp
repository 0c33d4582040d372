// Jobs as the API shows them.
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
[[nodiscard]] std::string_view result_name(live::controller::JobResult result);
[[nodiscard]] std::optional<live::controller::JobStage> find_stage(std::string_view name);

/// What everybody may know of a job: who, how much, since when; no names and paths of its owner.
[[nodiscard]] nlohmann::json job_summary(const live::controller::LiveJob& job,
                                         const core::model::Cluster& cluster);
/// All of it, the specification included.
[[nodiscard]] nlohmann::json job_details(const live::controller::LiveJob& job,
                                         const core::model::Cluster& cluster);

/// Places in the core's queue from 1, who is next first. Jobs that a limit of their account keeps
/// aside have none.
[[nodiscard]] std::map<core::model::JobId, int64_t> queue_positions(
    const core::scheduler::Core& core);

/// {"gpu", "node", "index"} of each.
[[nodiscard]] nlohmann::json gpu_list(const std::vector<core::model::GpuId>& gpus,
                                      const core::model::Cluster& cluster);

/// The job that a path names: "7", or "7_2" for task 2 of the array 7. Null: there is none.
[[nodiscard]] const live::controller::LiveJob* find_job(const live::controller::JobBook& book,
                                                        std::string_view name);

}  // namespace goban::serve::api

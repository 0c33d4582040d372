// Jobs as the API shows them.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "live/controller/job_book.hpp"
#include "model/cluster.hpp"
#include "scheduler/core.hpp"

namespace goban::service {

[[nodiscard]] std::string_view stage_name(live::JobStage stage);
[[nodiscard]] std::string_view result_name(live::JobResult result);
[[nodiscard]] std::optional<live::JobStage> find_stage(std::string_view name);

/// What everybody may know of a job: who, how much, since when; no names and paths of its owner.
[[nodiscard]] nlohmann::json job_summary(const live::LiveJob& job, const model::Cluster& cluster);
/// All of it, the specification included.
[[nodiscard]] nlohmann::json job_details(const live::LiveJob& job, const model::Cluster& cluster);

/// Places in the core's queue from 1, who is next first. Jobs that a limit of their account keeps
/// aside have none.
[[nodiscard]] std::map<live::JobId, int64_t> queue_positions(const scheduler::Core& core);

/// What each rank said of its time.
[[nodiscard]] nlohmann::json ranks_json(const std::vector<live::RankTimes>& ranks);

/// {"gpu", "node", "index"} of each.
[[nodiscard]] nlohmann::json gpu_list(const std::vector<live::GpuId>& gpus,
                                      const model::Cluster& cluster);

/// The job that a path names: "7", or "7_2" for task 2 of the array 7. Null: there is none.
[[nodiscard]] const live::LiveJob* find_job(const live::JobBook& book, std::string_view name);

}  // namespace goban::service

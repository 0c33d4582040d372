// Names and times as explanations write them; shared by their text and their JSON.
#pragma once

#include <string>
#include <vector>

#include "study/results/explain_text.hpp"

namespace goban::study::results {

/// The input's name of a job; fillers have none.
[[nodiscard]] std::string job_name(const core::model::JobHistory& history, core::model::JobId job);
/// "job 7", "jobs 7, 8 and 12", with "and 5 more" beyond `shown` names; `count` in all.
[[nodiscard]] std::string job_list(const core::model::JobHistory& history,
                                   const std::vector<core::model::JobId>& jobs, size_t count,
                                   size_t shown);
/// "node0003: GPUs 12-13; node0004: GPU 16".
[[nodiscard]] std::string gpu_list(const core::model::Cluster& cluster,
                                   const std::vector<core::model::GpuId>& gpus);
/// Key of a cause in JSON.
[[nodiscard]] const char* cause_key(core::scheduler::WaitCause cause);
/// The entry that served a launch: that of its reason, or none.
[[nodiscard]] const core::policy::PalEntry* chosen_entry(const simulator::Launch& launch);
/// The placement weighs levels against scores.
[[nodiscard]] bool is_pal(const core::policy::Composition& composition);

}  // namespace goban::study::results

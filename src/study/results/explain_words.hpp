// Names and times in explanations, shared by their text and JSON.
#pragma once

#include <string>
#include <vector>

#include "core/model/job_history.hpp"
#include "study/results/explain_text.hpp"

namespace goban::study::results {

/// The job's name in the input; fillers, which have none, are numbered.
[[nodiscard]] std::string job_name(const core::model::JobHistory& history, core::model::JobId job);
/// "job 7", "jobs 7, 8 and 12", with "and 5 more" beyond `shown` names; `count` is the total.
[[nodiscard]] std::string job_list(const core::model::JobHistory& history,
                                   const std::vector<core::model::JobId>& jobs, size_t count,
                                   size_t shown);
/// "node0003: GPUs 12-13; node0004: GPU 16".
[[nodiscard]] std::string gpu_list(const core::model::Cluster& cluster,
                                   const std::vector<core::model::GpuId>& gpus);
/// JSON key of a cause.
[[nodiscard]] const char* cause_key(core::scheduler::WaitCause cause);
/// The entry chosen for a launch: that of its reason, or null.
[[nodiscard]] const core::policy::PalEntry* chosen_entry(const simulator::Launch& launch);

}  // namespace goban::study::results

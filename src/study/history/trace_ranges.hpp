// Ranges of GPUs of traces whose jobs are elastic by the rules of their authors.
#pragma once

#include <vector>

#include "core/model/job_history.hpp"
#include "study/history/rates.hpp"

namespace goban::study::history {

/// ElasticFlow (format elasticflow): a job runs on the measured numbers of GPUs of its model and
/// batch size, at most 64, the batch size and those of the cluster; what it asks for is always
/// among them. Jobs without rows stay rigid. Call it before fit_jobs().
void set_elasticflow_ranges(const std::vector<RateRow>& rows, const core::model::Cluster& cluster,
                            core::model::JobHistory& history);

}  // namespace goban::study::history

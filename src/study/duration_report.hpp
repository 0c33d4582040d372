// The report of goban predict: tables and figures of a DurationStudy.
#pragma once

#include "core/model/job_history.hpp"
#include "site/analysis/report_data.hpp"
#include "study/duration_study.hpp"

namespace goban::study {

/// `history` is the one that was studied; its names of users are shown.
[[nodiscard]] site::analysis::ReportData duration_report(const DurationStudy& study,
                                                         const core::model::JobHistory& history);

}  // namespace goban::study

// The numbers on which synthetic Philly histories are calibrated. We measured them in files derived
// from the trace that Microsoft published with M. Jeon et al., ATC 2019 (CC BY 4.0); only these
// aggregates are included here. The files and the quantities:
//   attempts   philly_df_schedule: 151,816 attempts; GPUs, run times
//   clusters   sia_philly: 82,247 jobs; virtual clusters, hours and weekdays of submission
//   sample     philly_15k_user_status: 15,000 jobs; users, states
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "study/history/generate/duration_law.hpp"

namespace goban::study::history::generate::philly {

constexpr int64_t kAttempts = 151'816;
/// The paper's period, October to mid-December 2017. The files cover 137 days, but 82 % of their
/// attempts lie in October and November, at the same density as these 75 days.
constexpr int32_t kDays = 75;
constexpr int32_t kFirstWeekday = 6;  ///< 2017-10-01 was a Sunday; Monday = 0

/// Number of attempts by number of GPUs.
struct SizeRow {
  int32_t num_gpus = 1;
  int64_t attempts = 0;
};
constexpr std::array<SizeRow, 16> kSizes = {{{1, 122'287},
                                             {2, 3'435},
                                             {4, 11'957},
                                             {6, 2},
                                             {7, 3},
                                             {8, 11'676},
                                             {12, 17},
                                             {14, 3},
                                             {16, 1'910},
                                             {20, 1},
                                             {24, 119},
                                             {28, 1},
                                             {32, 333},
                                             {48, 3},
                                             {64, 57},
                                             {128, 12}}};

/// Run times of the attempts with at most this number of GPUs (and more than in the row before):
/// eight quantiles and the share below 300 s (`attempts`).
struct RunTimeRow {
  int32_t gpus_max = 1;
  DurationFacts facts;
};
constexpr size_t kNumRunTimeRows = 5;
[[nodiscard]] const std::array<RunTimeRow, kNumRunTimeRows>& run_time_rows();

/// Jobs of each virtual cluster, the largest first (`clusters`).
constexpr std::array<int64_t, 15> kVirtualClusters = {
    41'226, 16'091, 9'953, 7'423, 1'934, 1'511, 1'435, 1'137, 723, 422, 374, 8, 4, 3, 3};

/// Submissions by hour of the day and by weekday from Monday, in units of their mean (`clusters`).
constexpr std::array<double, 24> kHourWeights = {1.27, 0.98, 1.12, 1.10, 0.70, 1.15, 1.67, 2.09,
                                                 1.11, 1.01, 1.02, 0.87, 0.75, 0.70, 0.64, 0.65,
                                                 0.88, 0.67, 0.80, 0.73, 1.02, 0.92, 1.13, 1.01};
constexpr std::array<double, 7> kWeekdayWeights = {0.86, 1.07, 1.14, 1.29, 1.44, 0.61, 0.59};

// `sample`: 136 users, of which the first 6 have 57.04 % of the jobs. The mean number of
// consecutive jobs of one user is 3.87; an exponent of 1.3 gives bursts of zeta(1.3) = 3.93.
constexpr int32_t kUsers = 136;
constexpr int32_t kTopUsers = 6;
constexpr double kTopShare = 0.5704;
constexpr double kBurstExponent = 1.3;

/// The trace's states Pass, Killed and Failed.
constexpr std::array<std::string_view, 3> kStates = {"COMPLETED", "CANCELLED", "FAILED"};

/// Shares by state of the jobs that run less than this time (and not less than the row before)
/// (`sample`).
struct StateRow {
  double below_s = 0;
  std::array<double, 3> shares{};
};
constexpr std::array<StateRow, 7> kStateRows = {{{60, {.434, .055, .511}},
                                                 {300, {.774, .031, .195}},
                                                 {1'800, {.648, .109, .243}},
                                                 {7'200, {.788, .075, .137}},
                                                 {28'800, {.235, .336, .429}},
                                                 {86'400, {.253, .619, .128}},
                                                 {1e18, {.313, .309, .378}}}};

}  // namespace goban::study::history::generate::philly

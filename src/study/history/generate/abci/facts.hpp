// The published numbers on which the synthetic ABCI year is calibrated: S. Takizawa et al., the
// analysis of ABCI's job history of fiscal year 2019 (its Tables 1 and 2, Figures 2 to 4, and
// text). Numbers that the paper does not give, and we chose, are marked "ours".
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "study/history/generate/duration_law.hpp"

namespace goban::study::history::generate::abci {

constexpr double kHour_s = 3'600;
constexpr double kDay_s = 24 * kHour_s;

/// The period 2019-04-05 to 2020-03-31; its first day was a Friday.
constexpr int32_t kDays = 362;
constexpr int32_t kFirstWeekday = 4;  ///< Monday = 0

constexpr int64_t kAllJobs = 2'501'437;
/// The deep-learning population: batch jobs with GPUs and CUDA, of at least 300 s, that used GPUs.
constexpr int64_t kDlJobs = 497'730;
constexpr int64_t kOneGpuJobs = 245'978;       ///< 49.42 %, all G.small
constexpr int64_t kOneNodeJobs = 239'856;      ///< 48.19 %, G.large and Full of one node
constexpr int64_t kMultiNodeJobs = 11'896;     ///< 2.4 %
constexpr double kSingleShareOfFull = 0.95;    ///< Figure 2b
constexpr double kTwoNodesShare = 0.55;        ///< of the multi-node jobs; Figure 2c
constexpr double kPowersOfTwoShare = 0.907;    ///< of the multi-node jobs; Figure 2c
constexpr double kUpToEightNodesShare = 0.8;   ///< of the multi-node jobs; Figure 2c
constexpr int64_t kBeyondRackJobs = 578;       ///< of at least 35 nodes; text
constexpr double kMultiNodeHours = 427'520.6;  ///< Figure 3, node x hour of Full jobs
constexpr double kSingleNodeHours = 825'021.4;
constexpr int64_t kWalltimeExceededJobs = 16'093;  ///< 3.23 %
constexpr int32_t kSubmitters = 389;
constexpr int32_t kTopSubmitters = 23;  ///< 6 %, rounded
constexpr double kTopShare = 0.8;
constexpr double kSpearman = -0.386;  ///< nodes and walltime, 100 jobs per bin of Full

/// A row of Table 2, in hours, with the points of Figure 4 and the text.
struct WalltimeRow {
  std::string_view name;
  std::string_view resource_type;
  int32_t nodes_min = 1;
  int32_t nodes_max = 1;
  double mean_h = 0, sd_h = 0, median_h = 0, min_h = 0, max_h = 0;
  std::vector<CdfPoint> points{};  ///< in addition to the median; `seconds` are hours here

  [[nodiscard]] DurationFacts facts() const;
};

enum Row : size_t {
  kGSmall,
  kGLarge,
  kFull1,
  kFull2,
  kFull3,
  kFull5,
  kFull9,
  kFull35,
  kFull69,
  kFull137,
  kNumRows
};

/// Table 2. The minimum is 300 s by the paper's condition C4 where the table says 0.083 h.
[[nodiscard]] const std::array<WalltimeRow, kNumRows>& walltime_rows();

/// Number of jobs of the DL population with this number of instances of the row's type.
struct SizeRow {
  Row row = kGSmall;
  int32_t instances = 1;
  double jobs = 0;
};

/// All sizes of the DL population; they add up to kDlJobs.
[[nodiscard]] std::vector<SizeRow> size_rows();

}  // namespace goban::study::history::generate::abci

#include "study/history/generate/abci/facts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "study/history/generate/samplers.hpp"

namespace goban::study::history::generate::abci {
namespace {

/// Sizes from `nodes_min` to `nodes_max`: the powers of two among them if `powers`, otherwise the
/// others.
struct SizeRange {
  Row row = kFull2;
  int32_t nodes_min = 0;
  int32_t nodes_max = 0;
  bool powers = false;
  int64_t jobs = 0;
};

/// Rounded to the nearest integer, for positive numbers.
constexpr int64_t share_of(double share, int64_t jobs) {
  const double exact = share * static_cast<double>(jobs);
  const auto floor = static_cast<int64_t>(exact);
  return exact - static_cast<double>(floor) < 0.5 ? floor : floor + 1;
}

// Multi-node jobs. The paper gives these sums: 2 nodes, up to 8, beyond 34, powers of two.
constexpr int64_t kTwo = share_of(kTwoNodesShare, kMultiNodeJobs);
constexpr int64_t kThreeToEight = share_of(kUpToEightNodesShare, kMultiNodeJobs) - kTwo;
constexpr int64_t kRack = kMultiNodeJobs - kTwo - kThreeToEight - kBeyondRackJobs;
constexpr int64_t kOddSizes = kMultiNodeJobs - share_of(kPowersOfTwoShare, kMultiNodeJobs);
// Ours: how the sums are divided. Each bin beyond a rack has the 100 jobs from which the paper
// computes its rank correlation.
constexpr int64_t kOdd3 = kOddSizes / 5;
constexpr int64_t kOdd5 = kOddSizes / 5;
constexpr int64_t kOdd35 = kBeyondRackJobs / 6;
constexpr int64_t kOdd69 = kBeyondRackJobs / 12;
constexpr int64_t kOdd137 = kBeyondRackJobs / 12;
constexpr int64_t kOdd9 = kOddSizes - kOdd3 - kOdd5 - kOdd35 - kOdd69 - kOdd137;
constexpr int64_t kJobs69 = 150;
constexpr int64_t kJobs137 = 128;
constexpr int64_t kJobs35 = kBeyondRackJobs - kJobs69 - kJobs137;
constexpr int64_t kJobs3 = kThreeToEight * 5 / 8;

/// Appends the sizes of a range, with its jobs spread evenly over them.
void append(std::vector<SizeRow>& out, const SizeRange& range) {
  std::vector<int32_t> sizes;
  for (int32_t nodes = range.nodes_min; nodes <= range.nodes_max; ++nodes) {
    if (std::has_single_bit(static_cast<uint32_t>(nodes)) == range.powers) sizes.push_back(nodes);
  }
  const auto jobs = quotas(std::vector<double>(sizes.size(), 1.0), range.jobs);
  for (size_t i = 0; i < sizes.size(); ++i) {
    out.push_back({range.row, sizes[i], static_cast<double>(jobs[i])});
  }
}

double node_hours(const std::vector<SizeRow>& sizes) {
  double sum = 0;
  for (const SizeRow& size : sizes) {
    sum += size.jobs * size.instances * walltime_rows()[size.row].mean_h;
  }
  return sum;
}

/// The jobs of 16 and of 32 nodes. Their sum is known; Figure 3's node-hours of all multi-node jobs
/// determine how it is divided.
std::array<SizeRow, 2> halves_of_rack(const std::vector<SizeRow>& others) {
  constexpr double kSum = kRack - kOdd9;
  const double left = (kMultiNodeHours - node_hours(others)) / walltime_rows()[kFull9].mean_h;
  const double large = std::clamp(std::round((left - 16 * kSum) / (32 - 16)), 0.0, kSum);
  return {SizeRow{kFull9, 16, kSum - large}, SizeRow{kFull9, 32, large}};
}

}  // namespace

DurationFacts WalltimeRow::facts() const {
  DurationFacts facts{min_h * kHour_s, max_h * kHour_s, mean_h * kHour_s, sd_h * kHour_s};
  facts.points.push_back({median_h * kHour_s, 0.5});
  for (const CdfPoint& point : points) {
    facts.points.push_back({point.seconds * kHour_s, point.share});
  }
  std::ranges::sort(facts.points, {}, &CdfPoint::seconds);
  return facts;
}

const std::array<WalltimeRow, kNumRows>& walltime_rows() {
  constexpr double kLeast_h = 300 / kHour_s;
  // Text: about 70 % up to 1 h for every type; up to 24 h Full 96.6, G.small 98.3, G.large 93.9 %;
  // 70 % of the 2-node jobs from 1 to 2 h; 98 % of the multi-node jobs up to 24 h. Ours: where the
  // 70 % of the 2-node jobs start, and how the 2 % are divided over the bins.
  static const std::array<WalltimeRow, kNumRows> rows = {{
      {"G.small", "G.small", 1, 1, 2.514, 7.533, 0.495, kLeast_h, 167.385, {{1, .70}, {24, .983}}},
      {"G.large", "G.large", 1, 1, 4.498, 10.072, 0.552, 0.084, 71.932, {{1, .70}, {24, .939}}},
      {"Full 1", "Full", 1, 1, 2.848, 8.996, 0.393, kLeast_h, 72.006, {{1, .70}, {24, .966}}},
      {"Full 2",
       "Full",
       2,
       2,
       2.212,
       3.040,
       1.711,
       0.084,
       71.998,
       {{1, .12}, {2, .82}, {24, .997}}},
      {"Full 3-4", "Full", 3, 4, 6.024, 7.102, 4.013, 0.084, 53.502, {{24, .970}}},
      {"Full 5-8", "Full", 5, 8, 6.304, 11.034, 1.347, 0.084, 72.006, {{24, .935}}},
      {"Full 9-34", "Full", 9, 34, 5.538, 8.355, 1.582, kLeast_h, 70.662, {{24, .960}}},
      {"Full 35-68", "Full", 35, 68, 4.108, 10.779, 0.345, 0.085, 56.007, {{24, .930}}},
      {"Full 69-136", "Full", 69, 136, 0.441, 0.902, 0.173, 0.084, 4.346, {}},
      {"Full 137-512", "Full", 137, 512, 0.316, 0.364, 0.219, 0.084, 1.943, {}},
  }};
  return rows;
}

std::vector<SizeRow> size_rows() {
  const double single = std::round(static_cast<double>(kMultiNodeJobs) * kSingleShareOfFull /
                                   (1 - kSingleShareOfFull));
  std::vector<SizeRow> sizes;
  for (const SizeRange& range : {SizeRange{kFull2, 2, 2, true, kTwo},
                                 {kFull3, 3, 4, false, kOdd3},
                                 {kFull3, 3, 4, true, kJobs3 - kOdd3},
                                 {kFull5, 5, 8, false, kOdd5},
                                 {kFull5, 5, 8, true, kThreeToEight - kJobs3 - kOdd5},
                                 {kFull9, 9, 34, false, kOdd9},
                                 {kFull35, 35, 68, false, kOdd35},
                                 {kFull35, 35, 68, true, kJobs35 - kOdd35},
                                 {kFull69, 69, 136, false, kOdd69},
                                 {kFull69, 69, 136, true, kJobs69 - kOdd69},
                                 {kFull137, 137, 512, false, kOdd137},
                                 {kFull137, 137, 512, true, kJobs137 - kOdd137}}) {
    append(sizes, range);
  }
  for (const SizeRow& size : halves_of_rack(sizes)) sizes.push_back(size);
  sizes.push_back({kGSmall, 1, static_cast<double>(kOneGpuJobs)});
  sizes.push_back({kGLarge, 1, static_cast<double>(kOneNodeJobs) - single});
  sizes.push_back({kFull1, 1, single});
  return sizes;
}

}  // namespace goban::study::history::generate::abci

// Sizes by example; the numbers are computed by hand.
#include <gtest/gtest.h>
#include <limits>

#include "core/policy/test_part.hpp"

namespace goban::core::policy {
namespace {

using base::kSecond;
using model::JobState;
using Levels = std::vector<model::SpeedLevel>;

const Levels kUsual = {{1, 1.0}, {2, 1.8}, {4, 3.0}};

/// Jobs to choose sizes for; they arrive in the order of adding.
class Choice {
 public:
  Choice& job(double steps_left, double deadline_s, std::vector<Levels> levels = {kUsual}) {
    JobState& state = states_.emplace_back();
    state.arrival = static_cast<uint32_t>(states_.size());
    jobs_.push_back(
        {.levels = std::move(levels),
         .steps_left = steps_left,
         .deadline_ns = deadline_s < 0 ? base::kNever : base::from_seconds(deadline_s)});
    return *this;
  }
  /// The job added last runs on GPUs of this model.
  Choice& runs_on(uint32_t gpu_model) {
    jobs_.back().runs = true;
    states_.back().gpu_model = gpu_model;
    return *this;
  }
  Choice& later(double at_s, int32_t gpus) {
    later_.push_back({.at_ns = base::from_seconds(at_s), .gpu_model = 0, .gpus = gpus});
    return *this;
  }
  std::vector<Size> of(std::string_view part, std::vector<int32_t> gpus) {
    for (size_t i = 0; i < jobs_.size(); ++i) jobs_[i].job = &states_[i];
    std::vector<Size> sizes(jobs_.size());
    const PolicySet set = test_part(part);
    EXPECT_TRUE(set.size->decides());
    set.size->choose({.jobs = jobs_, .gpus = gpus, .later = later_}, sizes);
    return sizes;
  }

 private:
  std::vector<JobState> states_;
  std::vector<SizeJob> jobs_;
  std::vector<GpuReturn> later_;
};

TEST(Edf, TheEarliestDeadlineTakesTheMostGpus) {
  EXPECT_EQ(Choice().job(30, 200).job(30, 100).of("edf", {4}), (std::vector<Size>{{0, 0}, {4, 0}}));
  EXPECT_EQ(Choice().job(30, 200).job(30, 100).of("edf", {7}), (std::vector<Size>{{2, 0}, {4, 0}}));
  EXPECT_EQ(Choice().job(30, -1).job(30, 100).of("edf", {5}), (std::vector<Size>{{1, 0}, {4, 0}}))
      << "a job without a deadline comes last";
  EXPECT_EQ(Choice().job(30, 50).job(30, 50).of("edf", {4}), (std::vector<Size>{{4, 0}, {0, 0}}))
      << "of equal deadlines the first to arrive";
}

TEST(Edf, AJobThatEndsSoonestElsewhereTakesTheOtherModel) {
  const Levels slow = {{1, 0.5}, {2, 1.0}};
  const std::vector<Levels> both = {kUsual, slow};
  // 4 fast GPUs for the first; the second would have to wait 10 s for them, and needs 6 s then.
  EXPECT_EQ(Choice().job(30, 10, both).job(18, 20, both).of("edf", {4, 2}),
            (std::vector<Size>{{4, 0}, {0, 0}}))
      << "18 steps on two slow GPUs take 18 s";
  EXPECT_EQ(Choice().job(30, 10, both).job(15, 20, both).of("edf", {4, 2}),
            (std::vector<Size>{{4, 0}, {2, 1}}))
      << "15 steps take 15 s as well, and begin now";
}

TEST(Edf, CountsOnGpusThatRunningJobsGiveBack) {
  const Levels wide = {{4, 3.0}};
  EXPECT_EQ(Choice().job(30, 10, {wide}).job(8, 20).later(5, 4).of("edf", {2}),
            (std::vector<Size>{{0, 0}, {2, 0}}))
      << "the first waits for four GPUs and leaves the two of now to the second";
}

TEST(MaxMarginal, TheRestGoesWhereItSavesMostTime) {
  // One each; then 100 s -> 55.6 s for the first (44 s a GPU), 50 s -> 27.8 s for the second.
  EXPECT_EQ(Choice().job(100, -1).job(50, -1).of("max-marginal", {3}),
            (std::vector<Size>{{2, 0}, {1, 0}}));
  EXPECT_EQ(Choice().job(100, -1).job(50, -1).of("max-marginal", {4}),
            (std::vector<Size>{{2, 0}, {2, 0}}));
  EXPECT_EQ(Choice().job(1000, -1).job(50, -1).of("max-marginal", {5}),
            (std::vector<Size>{{4, 0}, {1, 0}}))
      << "1000 steps: 222 s a GPU from one to four, first 444 s to two, then 111 s a GPU";
  EXPECT_EQ(Choice().job(100, -1).job(50, -1).job(1, -1).of("max-marginal", {2}),
            (std::vector<Size>{{1, 0}, {1, 0}, {0, 0}}));
}

TEST(MaxMarginal, GrowsOverNumbersThatSaveNothing) {
  const Levels dip = {{1, 1.0}, {2, 0.9}, {4, 3.0}};
  EXPECT_EQ(Choice().job(100, -1, {dip}).of("max-marginal", {4}), (std::vector<Size>{{4, 0}}));
  EXPECT_EQ(Choice().job(100, -1, {dip}).of("max-marginal", {3}), (std::vector<Size>{{1, 0}}));
  const double unknown = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Choice().job(unknown, -1).of("max-marginal", {4}), (std::vector<Size>{{1, 0}}));
}

TEST(MaxMarginal, ARunningJobKeepsItsModel) {
  const std::vector<Levels> both = {{{1, 2.0}}, {{1, 1.0}, {2, 1.5}}};
  EXPECT_EQ(Choice().job(10, -1, both).of("max-marginal", {1, 2}), (std::vector<Size>{{1, 0}}));
  EXPECT_EQ(Choice().job(10, -1, both).runs_on(1).of("max-marginal", {1, 2}),
            (std::vector<Size>{{2, 1}}));
}

TEST(Fixed, DecidesNothing) { EXPECT_FALSE(test_part("fixed").size->decides()); }

}  // namespace
}  // namespace goban::core::policy

#include "train/trainer/planner_costs.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

#include "train/comm/thread_world.hpp"
#include "train/trainer/training_step.hpp"

namespace goban::train::trainer {
namespace {

using ::testing::HasSubstr;

constexpr const char* kText =
    "latency_s=2e-05;s_per_byte=1e-10;flops_per_s=1e+12;bytes_per_s=1e+11";

TEST(PlannerCosts, AreReadFromTextAndFromAFile) {
  const auto costs = parse_costs(kText);
  ASSERT_TRUE(costs) << costs.error().text();
  EXPECT_EQ(costs->alpha_s, 2e-5);
  EXPECT_EQ(costs->beta_s_per_byte, 1e-10);
  EXPECT_EQ(costs->flops_per_s, 1e12);
  EXPECT_EQ(costs->bytes_per_s, 1e11);
  EXPECT_EQ(costs_text(*costs), kText);
  const std::string path = ::testing::TempDir() + "/costs_" + std::to_string(getpid());
  std::ofstream(path) << "# of the cluster = these\nlatency_s=1\ns_per_byte=0 # fast\n"
                         "flops_per_s=3\nbytes_per_s=4\n";
  const auto read = parse_costs(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->alpha_s, 1);
  EXPECT_EQ(read->bytes_per_s, 4);
}

TEST(PlannerCosts, ThatAreMissingOrImpossibleAreNamed) {
  const auto message = [](const std::string& text) { return parse_costs(text).error().text(); };
  EXPECT_THAT(message("latency_s=1;s_per_byte=1;flops_per_s=1"),
              HasSubstr("'bytes_per_s' is missing"));
  EXPECT_THAT(message("latency=1"), HasSubstr("'latency=1' is not one of the costs"));
  EXPECT_THAT(message("flops_per_s=0"), HasSubstr("not a possible cost"));
  EXPECT_THAT(message("s_per_byte=nan"), HasSubstr("not a possible cost"));
  EXPECT_THAT(message("/nonexistent"), HasSubstr("/nonexistent"));
}

base::Result<ChosenLayout> chosen(const TrainOptions& options, int ranks) {
  base::Result<ChosenLayout> out;
  const auto status = comm::run_threads(ranks, {}, [&](comm::Communicator& end) -> base::Status {
    const auto step = build_step(options);
    if (!step) return base::failure(step.error());
    auto got = choose(options, **step, end);
    if (!got) return base::failure(got.error());
    if (end.rank() == 0) out = std::move(got);
    return {};
  });
  if (!status) return base::failure(status.error());
  return out;
}

TEST(PlannerCosts, OfAMeshThatIsLargerThanTheRanksMustBeGiven) {
  TrainOptions options;
  options.model = "mlp";
  options.hidden = 64;
  options.batch_size = 64;
  options.mesh = "x:8";
  options.layout = "auto";
  const auto guessed = chosen(options, 1);
  ASSERT_FALSE(guessed);
  EXPECT_THAT(guessed.error().text(), HasSubstr("between 8 devices cannot be measured on 1 rank"));
  EXPECT_THAT(guessed.error().text(), HasSubstr("--costs"));
  // Costly messages: nothing is split. Free ones: something is.
  options.costs = "latency_s=1;s_per_byte=1;flops_per_s=1e12;bytes_per_s=1e11";
  const auto whole = chosen(options, 1);
  ASSERT_TRUE(whole) << whole.error().text();
  EXPECT_EQ(whole->rules.text(), "");
  EXPECT_THAT(whole->said, HasSubstr("given --costs \"latency_s=1;s_per_byte=1;"));
  options.costs = "latency_s=0;s_per_byte=0;flops_per_s=1e12;bytes_per_s=1e11";
  const auto split = chosen(options, 1);
  ASSERT_TRUE(split);
  EXPECT_NE(split->rules.text(), "");
}

TEST(DefaultLayout, SplitsTheBatchOverTheRanks) {
  TrainOptions options;
  options.model = "mlp";
  const auto two = chosen(options, 2);
  ASSERT_TRUE(two) << two.error().text();
  EXPECT_EQ(two->mesh.text(), "ranks:2");
  EXPECT_EQ(two->rules.text(), "batch:ranks");
  EXPECT_THAT(two->said, HasSubstr("no --mesh: the batch is split over the 2 ranks"));
  const auto one = chosen(options, 1);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->mesh.devices(), 1);
  EXPECT_EQ(one->said, "");
  options.mesh = "x:2";  // asked for: a mesh over which nothing is split
  EXPECT_EQ(chosen(options, 2)->rules.text(), "");
}

}  // namespace
}  // namespace goban::train::trainer

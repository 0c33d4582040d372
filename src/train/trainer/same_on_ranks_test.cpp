#include "train/trainer/same_on_ranks.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <mutex>

#include "train/comm/thread_world.hpp"
#include "train/trainer/sweep.hpp"
#include "train/trainer/test_runs.hpp"
#include "train/trainer/trainer.hpp"

namespace goban::train::trainer {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class RanksThatDiffer : public ::testing::Test, protected TestRuns {
 protected:
  RanksThatDiffer() : TestRuns("differ") {
    options_.mesh = "x:3";
    options_.layout = "batch:x";
    options_.epochs = 1;
  }
  /// Trains on three ranks; `change` alters the options of rank 1. Every rank's error.
  std::vector<std::string> errors(const std::function<void(TrainOptions&)>& change) {
    std::vector<std::string> out(3);
    const auto status = comm::run_threads(3, {}, [&](comm::Communicator& end) -> base::Status {
      TrainOptions mine = options_;
      if (end.rank() == 1) change(mine);
      const auto result = train(mine, end);
      out[static_cast<size_t>(end.rank())] = result ? "trained" : result.error().text();
      return {};
    });
    EXPECT_TRUE(status);
    return out;
  }
};

TEST_F(RanksThatDiffer, InAnOptionDoNotTrainAndNameIt) {
  for (const std::string& each : errors([](TrainOptions& o) {
         o.seed = 7;
         o.optimizer.learning_rate = 0.5;
       })) {
    EXPECT_THAT(each, AllOf(HasSubstr("the ranks were started with different options"),
                            HasSubstr("--seed is '1' on ranks 0, 2, '7' on rank 1"),
                            HasSubstr("--learning-rate is '0' on ranks 0, 2, '0.5' on rank 1"),
                            HasSubstr("same command line"), Not(HasSubstr("--epochs"))));
  }
  EXPECT_THAT(errors([](TrainOptions& o) { o.batch_size = 12; })[0], HasSubstr("--batch-size"));
  EXPECT_THAT(errors([](TrainOptions& o) { o.epochs = 2; })[2], HasSubstr("--epochs"));
  EXPECT_THAT(
      errors([](TrainOptions& o) { o.task = "lm"; })[0],
      AllOf(HasSubstr("task"), HasSubstr("--hidden is '16' on ranks 0, 2, absent on rank 1")));
}

TEST_F(RanksThatDiffer, InTheirDataDoNotTrainAndNameIt) {
  const fs::path other = folder_ / "other";
  fs::create_directories(other);
  fs::copy(folder_ / "mnist", other / "mnist");
  EXPECT_EQ(errors([&](TrainOptions& o) { o.data_dir = other.string(); })[0], "trained");
  const std::string path = (other / "mnist" / "train-images-idx3-ubyte").string();
  std::string bytes = contents(path);
  bytes[5000] ^= 1;
  std::ofstream(path, std::ios::binary) << bytes;
  for (const std::string& each : errors([&](TrainOptions& o) { o.data_dir = other.string(); })) {
    EXPECT_THAT(each, AllOf(HasSubstr("different plans or data: training data is '240 samples"),
                            HasSubstr("on rank 1"), Not(HasSubstr("test data"))));
  }
}

TEST_F(RanksThatDiffer, AreAllEqualWithThemselves) {
  EXPECT_EQ(errors([](TrainOptions&) {}), std::vector<std::string>(3, "trained"));
}

}  // namespace
}  // namespace goban::train::trainer

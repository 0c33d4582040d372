// The loss of a masked language model is the mean over its masked tokens, however they are divided
// into micro-batches and test batches.
#include <fstream>
#include <gmock/gmock.h>

#include "base/random.hpp"
#include "train/trainer/test_runs.hpp"

namespace goban::train::trainer {
namespace {

class MaskedLoss : public ::testing::Test, protected TestRuns {
 protected:
  MaskedLoss() : TestRuns("masked") {
    const std::string text = (folder_ / "letters.txt").string();
    std::ofstream out(text);
    base::Random random(7);
    // 5020 windows of 16: 502 of them are the test set.
    for (int i = 0; i < 5020 * 16 + 1; ++i) {
      out << static_cast<char>('a' + random.below(1 + random.below(26)));
    }
    out.close();
    options_ = language_model(text);
    options_.train_limit = 64;
    options_.test_limit = 16;
    options_.epochs = 2;
    options_.transformer = {16, 16, 256, 16, 2, 8, 16, 1, true, false, 0};
  }
};

TEST_F(MaskedLoss, MicroBatchesDoNotChangeTheTraining) {
  options_.optimizer.kind = mesh::OptimizerOptions::Kind::Sgd;
  options_.optimizer.learning_rate = 0.5;
  for (const char* model : {"causal", "masked"}) {
    options_.model = model;
    options_.micro_batches = 1;
    options_.mesh = options_.layout = "";
    const auto whole = run(options_);
    ASSERT_TRUE(whole) << whole.error().text();
    EXPECT_LT(whole->back().train_loss, whole->front().train_loss - 0.05);
    for (const int parts : {2, 8, 16}) {
      options_.micro_batches = parts;
      for (const char* layout : {"", "batch:x", "d_ff:x"}) {
        if (parts == 16 && std::string(layout) == "batch:x") continue;  // a sample cannot be split
        options_.layout = layout;
        options_.mesh = options_.layout.empty() ? "" : "x:2";
        const auto parted = run(options_);
        ASSERT_TRUE(parted) << parted.error().text();
        for (size_t i = 0; i < whole->size(); ++i) {
          EXPECT_NEAR((*parted)[i].train_loss, (*whole)[i].train_loss, 2e-5) << model << parts;
          EXPECT_NEAR((*parted)[i].test_loss, (*whole)[i].test_loss, 2e-5) << model << parts;
        }
      }
    }
  }
}

TEST_F(MaskedLoss, OfTheTestSetIsTheSameUnderEveryLayout) {
  options_.model = "masked";
  options_.test_limit = 502;  // two batches of 251, or 251 of 2 where the batch is split in two
  options_.epochs = 1;
  const auto whole = run(options_);
  ASSERT_TRUE(whole) << whole.error().text();
  options_.mesh = "x:2";
  options_.layout = "batch:x";
  const auto split = run(options_);
  ASSERT_TRUE(split) << split.error().text();
  EXPECT_NEAR(split->back().test_loss, whole->back().test_loss, 2e-5);
  EXPECT_NEAR(split->back().test_accuracy, whole->back().test_accuracy, 1e-3);
}

}  // namespace
}  // namespace goban::train::trainer

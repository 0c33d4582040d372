// Saving and resuming runs, and checkpoints that are rejected.
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <limits>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "train/comm/thread_world.hpp"
#include "train/mesh/checkpoint.hpp"
#include "train/trainer/folder_lock.hpp"
#include "train/trainer/stopping.hpp"
#include "train/trainer/test_runs.hpp"
#include "train/trainer/trainer.hpp"
#include "train/trainer/training_step.hpp"

namespace goban::train::trainer {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class TrainerCheckpoint : public ::testing::Test, protected TestRuns {
 protected:
  TrainerCheckpoint() : TestRuns("checkpoint") {}

  /// Saves a run's initial variables with the last element of the first one changed.
  base::Status save_with(double number, const mesh::Bookmark& bookmark) {
    return comm::run_threads(1, {}, [&](comm::Communicator& end) -> base::Status {
      auto graph = build_step(options_);
      if (!graph) return base::failure(graph.error());
      mesh::DeviceMemory memory(0);
      auto step = TrainingStep::create(options_, std::move(*graph), {}, end, memory);
      if (!step) return base::failure(step.error());
      (*step)->variables().slice(0).view({-1})[-1].fill_(number);
      fs::create_directories(options_.checkpoint);
      return mesh::save_checkpoint(saved(), (*step)->variables(), bookmark);
    });
  }
};

TEST_F(TrainerCheckpoint, ResumesBitExactlyAndUnderAnotherLayout) {
  const auto whole = run(options_);
  ASSERT_TRUE(whole) << whole.error().text();
  TrainOptions half = options_;
  half.checkpoint = (folder_ / "saved").string();
  half.epochs = 2;
  ASSERT_TRUE(run(half));
  const fs::path copy = folder_ / "copy";
  fs::copy(half.checkpoint, copy);
  half.epochs = 4;
  const auto rest = run(half);
  ASSERT_TRUE(rest) << rest.error().text();
  ASSERT_EQ(rest->size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*rest)[i].train_loss, (*whole)[i + 2].train_loss);  // the same bits
    EXPECT_EQ((*rest)[i].test_loss, (*whole)[i + 2].test_loss);
  }
  TrainOptions split = half;
  split.checkpoint = copy.string();
  split.mesh = "x:2;y:2";
  split.layout = "batch:x;hidden1:y";
  const auto other = run(split);
  ASSERT_TRUE(other) << other.error().text();
  EXPECT_NEAR(other->back().train_loss, whole->back().train_loss, 1e-3);
}

// What a resize of an elastic job does: the global batch stays, each rank gets another part of it.
TEST_F(TrainerCheckpoint, ResumesOnOtherNumbersOfRanksWithTheSameGlobalBatch) {
  const auto whole = run(options_);
  ASSERT_TRUE(whole) << whole.error().text();
  TrainOptions resized = options_;
  resized.checkpoint = (folder_ / "saved").string();
  size_t epoch = 0;
  for (const char* mesh : {"x:2", "x:4", "x:1", "x:2"}) {
    resized.mesh = mesh;
    resized.layout = "batch:x";
    resized.epochs = static_cast<int64_t>(epoch) + 1;
    const auto next = run(resized);
    ASSERT_TRUE(next) << mesh << ": " << next.error().text();
    ASSERT_EQ(next->size(), 1U) << mesh;
    EXPECT_NEAR(next->back().train_loss, (*whole)[epoch].train_loss, 1e-5) << mesh;
    EXPECT_NEAR(next->back().test_loss, (*whole)[epoch].test_loss, 1e-5) << mesh;
    ++epoch;
  }
}

TEST_F(TrainerCheckpoint, ASignalSavesInTheMiddleOfAnEpoch) {
  const auto whole = run(options_);
  ASSERT_TRUE(whole);
  TrainOptions stopped = options_;
  stopped.checkpoint = (folder_ / "saved").string();
  stop_requested = true;
  const auto first = run(stopped);
  stop_requested = false;
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_TRUE(first->empty());
  ASSERT_TRUE(fs::exists(saved()));
  const auto rest = run(stopped);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->back().train_loss, whole->back().train_loss);
}

TEST_F(TrainerCheckpoint, ResumesInTheMiddleOfAnEpochWithASmallerLastBatch) {
  options_.batch_size = 100;
  options_.epochs = 2;
  const auto whole = run(options_);
  ASSERT_TRUE(whole);
  options_.checkpoint = (folder_ / "saved").string();
  options_.most_steps = 2;
  ASSERT_TRUE(run(options_));
  options_.most_steps = 0;
  const auto rest = run(options_);
  ASSERT_TRUE(rest) << rest.error().text();
  ASSERT_EQ(rest->size(), 2U);
  EXPECT_EQ(rest->back().train_loss, whole->back().train_loss);
  EXPECT_EQ(rest->back().test_loss, whole->back().test_loss);
}

TEST_F(TrainerCheckpoint, ALossThatIsNoNumberEndsTheRunAndKeepsTheCheckpoint) {
  options_.checkpoint = (folder_ / "saved").string();
  options_.epochs = 1;
  ASSERT_TRUE(run(options_));
  const std::string before = contents(saved());
  options_.epochs = 9;
  options_.optimizer.scale = 1e38;
  const auto result = run(options_);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("the loss of step"));
  EXPECT_EQ(contents(saved()), before);
}

TEST_F(TrainerCheckpoint, DamagedCheckpointsAreRefusedWithTheReason) {
  options_.checkpoint = (folder_ / "saved").string();
  options_.epochs = 1;
  ASSERT_TRUE(run(options_));
  const std::string good = contents(saved());
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(saved(), std::ios::binary | std::ios::trunc) << bytes;
    const auto result = run(options_);
    return result ? std::string("accepted") : result.error().message;
  };
  EXPECT_THAT(refused(good.substr(0, good.size() - 5)), HasSubstr("truncated"));
  EXPECT_THAT(refused(good.substr(0, good.find("optimizer/"))),
              HasSubstr("truncated in its index"));
  EXPECT_THAT(refused(good.substr(0, 40)), HasSubstr("bookmark"));
  EXPECT_THAT(refused(good + "x"), HasSubstr("after its end"));
  std::string flipped = good;
  flipped[flipped.size() - 2000] ^= 4;
  EXPECT_THAT(refused(flipped), HasSubstr("is damaged"));
  EXPECT_THAT(refused("hello"), HasSubstr("not a checkpoint"));
  options_.hidden = 8;
  EXPECT_THAT(refused(good), HasSubstr("where the model has"));
}

TEST_F(TrainerCheckpoint, AFullDiskKeepsTheLastCheckpoint) {
  options_.checkpoint = (folder_ / "saved").string();
  options_.epochs = 1;
  ASSERT_TRUE(run(options_));
  const std::string before = contents(saved());
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  rlimit small = old;
  small.rlim_cur = before.size() / 2;
  setrlimit(RLIMIT_FSIZE, &small);
  options_.epochs = 2;
  const auto result = run(options_);
  setrlimit(RLIMIT_FSIZE, &old);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("cannot write"));
  EXPECT_EQ(contents(saved()), before);
  EXPECT_FALSE(fs::exists(saved() + ".partial"));
}

TEST_F(TrainerCheckpoint, AnUpdateThatIsNoNumberIsNotSavedEvenIfItIsTheLast) {
  options_.checkpoint = (folder_ / "saved").string();
  options_.epochs = 1;
  ASSERT_TRUE(run(options_));
  const std::string before = contents(saved());
  options_.epochs = 2;
  options_.most_steps = 11;  // one more step, whose loss is still that of the saved parameters
  for (const double rate : {std::numeric_limits<double>::quiet_NaN(), 1e38}) {
    options_.optimizer.scale = rate;
    const auto result = run(options_);
    ASSERT_FALSE(result) << rate;
    EXPECT_THAT(result.error().text(), HasSubstr("after step 11"));
    EXPECT_THAT(result.error().text(), HasSubstr("the last checkpoint is intact"));
    EXPECT_EQ(contents(saved()), before) << rate;
  }
  options_.checkpoint.clear();
  const auto unsaved = run(options_);
  ASSERT_FALSE(unsaved);
  EXPECT_THAT(unsaved.error().text(), ::testing::Not(HasSubstr("checkpoint")));
}

TEST_F(TrainerCheckpoint, ARunThatIsStoppedSavesNoParametersThatAreNoNumbers) {
  options_.checkpoint = (folder_ / "saved").string();
  const mesh::Bookmark at_step_8 = {{"epoch", "0"},     {"position", "8"}, {"step", "8"},
                                    {"seed", "1"},      {"batch", "24"},   {"loss_samples", "192"},
                                    {"loss_sum", "400"}};
  for (const double number :
       {1.0, std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    const auto written = save_with(number, at_step_8);
    ASSERT_TRUE(written) << written.error().text();
    const std::string before = contents(saved());
    TrainOptions split = options_;
    split.mesh = "x:2";
    split.layout = "hidden1:x";  // only rank 1 has it
    stop_requested = true;
    const auto result = run(split);
    stop_requested = false;
    EXPECT_EQ(result.has_value(), number == 1.0);
    if (number == 1.0) continue;
    EXPECT_THAT(result.error().text(), HasSubstr("'hidden1/kernel' contains NaN or infinity"));
    EXPECT_EQ(contents(saved()), before);
  }
}

TEST_F(TrainerCheckpoint, OfARunWithOtherSettingsItIsRefusedByTheirNames) {
  options_.checkpoint = (folder_ / "saved").string();
  options_.train_limit = 215;  // 8 whole batches and one of 23
  options_.most_steps = 8;
  ASSERT_TRUE(run(options_));
  options_.most_steps = 0;
  const auto refused = [](const TrainOptions& options) {
    const auto result = run(options);
    return result ? std::string("accepted") : result.error().text();
  };
  TrainOptions other = options_;
  other.train_limit = 192;
  EXPECT_THAT(refused(other), HasSubstr("training samples = 215, not 192"));
  other = options_;
  other.last_batch = LastBatch::Drop;
  EXPECT_THAT(refused(other), HasSubstr("steps per epoch = 9, not 8"));
  other = options_;
  other.task = "fashion";
  fs::copy(folder_ / "mnist", folder_ / "fashion");
  EXPECT_THAT(refused(other), HasSubstr("saved by a run with task = mnist, not fashion"));
  other = options_;
  other.seed = 2;
  EXPECT_THAT(refused(other), HasSubstr("--seed = 1, not 2"));
  other = options_;
  other.batch_size = 12;
  EXPECT_THAT(refused(other), HasSubstr("--batch-size = 24, not 12"));
  // Release 0.1 wrote fewer settings; those present are still checked.
  const std::string whole = contents(saved());
  const auto rewrite = [&](const std::string& position) {
    std::string old = whole;
    for (const char* key : {"task", "model", "samples", "epoch_steps", "data"}) {
      const size_t begin = old.find("\n" + std::string(key) + "=") + 1;
      old.erase(begin, old.find('\n', begin) + 1 - begin);
    }
    old.replace(0, old.find('\n'), "goban-checkpoint 1");
    old.replace(old.find("position=8"), 10, "position=" + position);
    std::ofstream(saved(), std::ios::binary | std::ios::trunc) << old;
  };
  rewrite("8");
  other = options_;
  other.train_limit = 192;
  EXPECT_THAT(refused(other), HasSubstr("is at step 8 of an epoch, which has 8 steps in this run"));
  rewrite("-1");
  EXPECT_THAT(refused(options_), HasSubstr("is at step -1 of an epoch"));
  rewrite("8");
  EXPECT_EQ(refused(options_), "accepted");
}

TEST_F(TrainerCheckpoint, APositionThatWasEditedIsRefused) {
  options_.checkpoint = (folder_ / "saved").string();
  options_.epochs = 1;
  ASSERT_TRUE(run(options_));
  std::string bytes = contents(saved());
  const auto refused = [&] {
    std::ofstream(saved(), std::ios::binary | std::ios::trunc) << bytes;
    const auto result = run(options_);
    return result ? std::string("accepted") : result.error().text();
  };
  options_.epochs = 2;
  const size_t at = bytes.find("\nstep=10\n");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 7] = '1';
  EXPECT_THAT(refused(), HasSubstr("position and settings of the run, is damaged"));
  EXPECT_THAT(refused(), HasSubstr("remove it to train from the start"));
  bytes.replace(0, bytes.find('\n'), "goban-checkpoint 1");  // without a checksum
  EXPECT_THAT(refused(), HasSubstr("step 11 cannot be step 0 of epoch 2"));
}

TEST_F(TrainerCheckpoint, OfARunOnOtherDataOfTheSameSizeIsRefused) {
  const std::string text = (folder_ / "text").string();
  const auto write = [&](const std::string& word) {
    std::ofstream out(text, std::ios::trunc);
    for (int i = 0; i < 2000; ++i) out << word;
  };
  write("one ");
  TrainOptions lm = language_model(text);
  lm.transformer.length = 16;
  lm.transformer.blocks = 1;
  lm.train_limit = 64;
  lm.epochs = 1;
  lm.checkpoint = (folder_ / "saved").string();
  const auto first = run(lm);
  ASSERT_TRUE(first) << first.error().text();
  lm.epochs = 2;
  write("two ");
  const auto other = run(lm);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().text(), HasSubstr("saved by a run with training data of checksum = "));
  EXPECT_THAT(other.error().text(), HasSubstr("the same options and data"));
  write("one ");
  EXPECT_TRUE(run(lm));
}

TEST_F(TrainerCheckpoint, AFolderThatAnotherRunUsesIsRefused) {
  options_.checkpoint = (folder_ / "saved").string();
  options_.epochs = 1;
  fs::create_directories(options_.checkpoint);
  {
    const auto other = FolderLock::take(options_.checkpoint, "--checkpoint");
    ASSERT_TRUE(other) << other.error().text();
    const auto result = run(options_);
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().text(), HasSubstr("another run uses the folder"));
    EXPECT_THAT(result.error().text(), HasSubstr(fmt::format("process {} on ", getpid())));
    EXPECT_THAT(result.error().text(), HasSubstr("use another --checkpoint folder"));
    EXPECT_FALSE(fs::exists(saved()));
  }
  EXPECT_TRUE(run(options_));
}

TEST_F(TrainerCheckpoint, APipeIsRefusedAndNotWaitedFor) {
  options_.checkpoint = (folder_ / "saved").string();
  fs::create_directories(options_.checkpoint);
  ASSERT_EQ(mkfifo(saved().c_str(), 0600), 0);
  const auto result = run(options_);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), HasSubstr("is not a regular file"));
}

TEST_F(TrainerCheckpoint, AnOutFolderIsCheckedBeforeTheFirstStep) {
  std::ofstream(folder_ / "file") << "x";
  options_.checkpoint = (folder_ / "saved").string();
  options_.out = (folder_ / "file" / "out").string();
  const auto unwritable = run(options_);
  ASSERT_FALSE(unwritable);
  EXPECT_THAT(unwritable.error().text(), HasSubstr("--out must be a writable folder"));
  EXPECT_FALSE(fs::exists(saved())) << "nothing was trained";

  options_.out = (folder_ / "out").string();
  fs::create_directories(options_.out);
  {
    const auto other = FolderLock::take(options_.out, "--out");
    ASSERT_TRUE(other) << other.error().text();
    const auto result = run(options_);
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().text(), HasSubstr("use another --out folder"));
    EXPECT_FALSE(fs::exists(saved()));
  }
  options_.out = options_.checkpoint;
  EXPECT_TRUE(run(options_)) << "one folder may serve both";
}

TEST_F(TrainerCheckpoint, ThatDoesNotExistIsNoRemedy) {
  options_.checkpoint = (folder_ / "saved").string();
  options_.optimizer.scale = 1e38;
  const auto result = run(options_);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().text(), ::testing::Not(HasSubstr("checkpoint")));
}

TEST_F(TrainerCheckpoint, EverySeedIsResumed) {
  options_.checkpoint = (folder_ / "saved").string();
  options_.seed = std::numeric_limits<uint64_t>::max();
  options_.epochs = 1;
  ASSERT_TRUE(run(options_));
  options_.epochs = 2;
  const auto result = run(options_);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->size(), 1U);
}

TEST_F(TrainerCheckpoint, AFolderThatCannotBeUsedIsAnErrorBeforeTheFirstStep) {
  fs::create_symlink("loop", folder_ / "loop");
  options_.checkpoint = (folder_ / "loop").string();
  const auto looped = run(options_);
  ASSERT_FALSE(looped);
  EXPECT_THAT(looped.error().text(), HasSubstr("cannot create the folder"));
  std::ofstream(folder_ / "file") << "no folder";
  options_.checkpoint = (folder_ / "file").string();
  EXPECT_THAT(run(options_).error().text(), HasSubstr("cannot create the folder"));
  options_.checkpoint = (folder_ / "saved").string();
  fs::create_directories(options_.checkpoint);
  fs::create_symlink("checkpoint.goban", saved());
  EXPECT_THAT(run(options_).error().text(), HasSubstr("cannot open checkpoint"));
}

}  // namespace
}  // namespace goban::train::trainer

#include "train/trainer.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/random.hpp"
#include "comm/thread_world.hpp"
#include "mesh/layout.hpp"
#include "wire/job_profile.hpp"

namespace goban::train {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// A small image set whose classes are where the bright square lies, so that it can be learnt.
void write_images(const fs::path& folder) {
  fs::create_directories(folder);
  const auto big_endian = [](int64_t value) {
    std::string out;
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
    return out;
  };
  base::Random random(5);
  for (const auto& [name, count] : {std::pair("train", 240), std::pair("t10k", 40)}) {
    std::string images("\0\0\x08\x03", 4), labels("\0\0\x08\x01", 4);
    images += big_endian(count) + big_endian(28) + big_endian(28);
    labels += big_endian(count);
    for (int i = 0; i < count; ++i) {
      const auto label = static_cast<int>(random.below(10));
      std::string image(784, '\0');
      for (size_t p = 0; p < 784; ++p) {
        const bool bright =
            static_cast<int>(p / 28 / 5) * 5 + static_cast<int>(p % 28 / 6) == label * 2 + 3;
        image[p] = static_cast<char>(bright ? 220 : random.below(40));
      }
      images += image;
      labels += static_cast<char>(label);
    }
    const std::string stem = (folder / name).string();
    std::ofstream(stem + "-images-idx3-ubyte", std::ios::binary) << images;
    std::ofstream(stem + "-labels-idx1-ubyte", std::ios::binary) << labels;
  }
}

class Trainer : public ::testing::Test {
 protected:
  Trainer() {
    fs::remove_all(folder_);
    write_images(folder_ / "mnist");
    options_.model = "mlp";
    options_.hidden = 16;
    options_.batch_size = 24;
    options_.data_dir = folder_.string();
    options_.epochs = 4;
    options_.quiet = true;
  }
  ~Trainer() override { fs::remove_all(folder_); }

  base::Result<std::vector<EpochResult>> run(const TrainOptions& options) {
    const auto mesh = mesh::MeshShape::parse(options.mesh);
    std::vector<EpochResult> out;
    const auto status =
        comm::run_threads(static_cast<int>(mesh->devices()), {}, [&](comm::Communicator& end) {
          auto result = train(options, end);
          if (result && end.rank() == 0) out = *result;
          return result ? base::Status{} : base::Status(base::failure(result.error()));
        });
    if (!status) return base::failure(status.error());
    return out;
  }
  std::string saved() const { return (folder_ / "saved" / "checkpoint.goban").string(); }
  static std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder_ = fs::path(::testing::TempDir()) / ("goban_train_" + std::to_string(getpid()));
  TrainOptions options_;
};

TEST_F(Trainer, LearnsAndWritesMetricsAndAProfile) {
  options_.out = (folder_ / "out").string();
  options_.mesh = "x:2";
  options_.layout = "batch:x";
  options_.epochs = 30;
  const auto result = run(options_);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_GT(result->back().test_accuracy, 0.9);
  EXPECT_LT(result->back().train_loss, 0.5 * result->front().train_loss);
  const std::string csv = contents(options_.out + "/metrics.csv");
  EXPECT_THAT(csv,
              HasSubstr("batch,seed,epoch,step,train_loss,test_loss,test_acc,wall_s,images_s"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 31);
  EXPECT_THAT(contents(options_.out + "/metrics.prom"), HasSubstr("goban_train_epoch 30\n"));
  const auto profile =
      wire::parse_job_profile(contents(options_.out + "/profile.json"), "profile.json");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->model, "mnist-mlp");
  // Data parallel on two: each sends one fp32 gradient, and the loss and hits, a step.
  const int64_t parameters = 784 * 16 + 16 + 16 * 16 + 16 + 16 * 10 + 10;
  EXPECT_EQ(profile->bytes_per_step->value, static_cast<double>(4 * (parameters + 2)));
  EXPECT_GT(profile->iteration_s->value, 0);
}

TEST_F(Trainer, ResumesBitExactlyAndUnderAnotherLayout) {
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

TEST_F(Trainer, ASignalSavesInTheMiddleOfAnEpoch) {
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

TEST_F(Trainer, ALossThatIsNoNumberEndsTheRunAndKeepsTheCheckpoint) {
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

TEST_F(Trainer, DamagedCheckpointsAreRefusedWithTheReason) {
  options_.checkpoint = (folder_ / "saved").string();
  options_.epochs = 1;
  ASSERT_TRUE(run(options_));
  const std::string good = contents(saved());
  const auto refused = [&](const std::string& bytes) {
    std::ofstream(saved(), std::ios::binary | std::ios::trunc) << bytes;
    const auto result = run(options_);
    return result ? std::string("accepted") : result.error().message;
  };
  EXPECT_THAT(refused(good.substr(0, good.size() - 5)), HasSubstr("cut off"));
  EXPECT_THAT(refused(good.substr(0, good.find("optimizer/"))), HasSubstr("cut off in its index"));
  EXPECT_THAT(refused(good.substr(0, 40)), HasSubstr("bookmark"));
  EXPECT_THAT(refused(good + "x"), HasSubstr("after its end"));
  std::string flipped = good;
  flipped[flipped.size() - 2000] ^= 4;
  EXPECT_THAT(refused(flipped), HasSubstr("is damaged"));
  EXPECT_THAT(refused("hello"), HasSubstr("not a checkpoint"));
  options_.hidden = 8;
  EXPECT_THAT(refused(good), HasSubstr("where the model has"));
}

TEST_F(Trainer, AFullDiskKeepsTheLastCheckpoint) {
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

TEST_F(Trainer, AModelTooLargeForOneDeviceTrainsWhenSplit) {
  options_.model = "mlp";
  options_.hidden = 512;
  options_.memory_limit_bytes = 4'500'000;
  const auto alone = run(options_);
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().text(), HasSubstr("the limit is 4500000"));
  options_.mesh = "x:2";
  options_.layout = "hidden1:x";
  options_.epochs = 1;
  EXPECT_TRUE(run(options_));
}

TEST_F(Trainer, Bf16TrainsToo) {
  options_.precision = mesh::DType::BF16;
  options_.epochs = 30;
  const auto result = run(options_);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_GT(result->back().test_accuracy, 0.85);
}

TEST_F(Trainer, WrongOptionsAreNamed) {
  options_.batch_size = 1000;
  EXPECT_THAT(run(options_).error().text(), HasSubstr("larger than the 240 training samples"));
  options_.batch_size = 24;
  options_.micro_batches = 5;
  EXPECT_THAT(run(options_).error().text(), HasSubstr("does not divide into 5 micro-batches"));
  options_.micro_batches = 1;
  options_.data_dir = "/nonexistent";
  EXPECT_THAT(run(options_).error().text(), HasSubstr("goban-train data fetch mnist"));
}

}  // namespace
}  // namespace goban::train

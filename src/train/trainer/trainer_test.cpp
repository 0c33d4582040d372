#include "train/trainer/trainer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <tuple>
#include <unistd.h>

#include "base/reports/job_profile.hpp"
#include "train/comm/thread_world.hpp"
#include "train/mesh/layout.hpp"
#include "train/trainer/stopping.hpp"
#include "train/trainer/test_runs.hpp"
#include "train/trainer/training_step.hpp"

namespace goban::train::trainer {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class Trainer : public ::testing::Test, protected TestRuns {
 protected:
  Trainer() : TestRuns("train") {}
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
      base::reports::parse_job_profile(contents(options_.out + "/profile.json"), "profile.json");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->model, "mnist-mlp");
  // Data parallel on two ranks: per step, each sends one fp32 gradient, the loss and the number of
  // correct predictions.
  const int64_t parameters = 784 * 16 + 16 + 16 * 16 + 16 + 16 * 10 + 10;
  EXPECT_EQ(profile->bytes_per_step->value, static_cast<double>(4 * (parameters + 2)));
  EXPECT_GT(profile->iteration_s->value, 0);
}

TEST_F(Trainer, SummariesAreAmongTheMetricsUnderEveryLayout) {
  options_.summaries = true;
  options_.epochs = 2;
  options_.out = (folder_ / "out").string();
  const auto whole = run(options_);
  ASSERT_TRUE(whole) << whole.error().text();
  ASSERT_EQ(whole->back().summaries.size(), 4U);
  const auto& [name, gradient_norm] = whole->back().summaries[2];
  EXPECT_EQ(name, "gradient_norm");
  EXPECT_GT(gradient_norm, 0);
  EXPECT_THAT(contents(options_.out + "/metrics.csv"),
              HasSubstr(",images_s,hidden1_active,hidden2_active,gradient_norm,parameter_norm\n"));
  EXPECT_GT(whole->back().summaries[0].second, 0.1);
  EXPECT_LT(whole->back().summaries[0].second, 0.9);
  EXPECT_THAT(
      contents(options_.out + "/metrics.prom"),
      HasSubstr(fmt::format("goban_train_summary{{name=\"gradient_norm\"}} {}\n", gradient_norm)));
  options_.out.clear();
  for (const auto& [mesh, layout, micro_batches] :
       {std::tuple("x:2", "batch:x", 1), std::tuple("x:2;y:2", "batch:x;hidden1:y", 1),
        std::tuple("x:2", "hidden2:x", 1), std::tuple("x:2", "batch:x", 2)}) {
    TrainOptions split = options_;
    split.mesh = mesh;
    split.layout = layout;
    split.micro_batches = micro_batches;
    const auto other = run(split);
    ASSERT_TRUE(other) << other.error().text();
    for (size_t i = 0; i < 4; ++i) {
      const double wanted = whole->back().summaries[i].second;
      EXPECT_NEAR(other->back().summaries[i].second, wanted, 1e-3 * wanted) << layout;
    }
  }
}

TEST_F(Trainer, ASummaryIsTheNormOfTheGradientThatMovesTheParameters) {
  options_.summaries = true;
  options_.optimizer.kind = mesh::OptimizerOptions::Kind::Sgd;
  options_.optimizer.learning_rate = 0.125;
  options_.batch_size = 240;
  auto graph = build_step(options_);
  ASSERT_TRUE(graph) << graph.error().text();
  comm::ThreadWorld world(1, {});
  mesh::DeviceMemory memory(0);
  auto step = TrainingStep::create(options_, std::move(*graph), {}, world.communicator(0), memory);
  ASSERT_TRUE(step) << step.error().text();
  const auto squares = [&](const std::vector<at::Tensor>& of) {
    double sum = 0;
    for (const at::Tensor& each : of) sum += each.to(at::kDouble).square().sum().item<double>();
    return sum;
  };
  const auto parameters = [&] {
    std::vector<at::Tensor> all;
    for (size_t i = 0; i < (*step)->variables().size(); ++i) {
      const auto id = static_cast<mesh::VariableId>(i);
      if ((*step)->step().graph.variable(id).trainable) {
        all.push_back((*step)->variables().slice(id).clone());
      }
    }
    return all;
  };
  const std::vector<at::Tensor> before = parameters();
  auto feeds = (*step)->zero_feeds();
  feeds[0]["image"].fill_(0.5);
  const auto values = (*step)->run(feeds, 0);
  ASSERT_TRUE(values) << values.error().text();
  std::vector<at::Tensor> moved = parameters();
  for (size_t i = 0; i < moved.size(); ++i) moved[i].sub_(before[i]);
  const double gradient_norm = values->summaries.at(2), parameter_norm = values->summaries.at(3);
  EXPECT_NEAR(std::sqrt(squares(moved)), 0.125 * gradient_norm, 1e-4 * gradient_norm);
  EXPECT_NEAR(std::sqrt(squares(before)), parameter_norm, 1e-4 * parameter_norm);
}

TEST_F(Trainer, SummariesOfAnIntervalOutliveAStopAndOtherColumnsAreRefused) {
  options_.summaries = true;
  options_.epochs = 60;
  options_.evaluate_every = 600;  // one interval, over all epochs
  const auto whole = run(options_);
  ASSERT_TRUE(whole) << whole.error().text();
  TrainOptions half = options_;
  half.checkpoint = (folder_ / "saved").string();
  half.out = (folder_ / "out").string();
  std::thread stopper([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    stop_requested = true;
  });
  auto rest = run(half);  // at any point of the interval, or not at all
  stopper.join();
  stop_requested = false;
  ASSERT_TRUE(rest) << rest.error().text();
  if (rest->empty()) rest = run(half);
  ASSERT_TRUE(rest) << rest.error().text();
  EXPECT_EQ(rest->back().summaries, whole->back().summaries);  // the same bits
  half.summaries = false;
  half.epochs = 120;
  const auto refused = run(half);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("has different columns from this run"));
}

TEST_F(Trainer, EveryLayoutFollowsOneTrajectoryAndSoDoesThePlanners) {
  for (const char* model : {"mlp", "conv"}) {
    const bool conv = std::string(model) == "conv";
    options_.model = model;
    if (conv) {  // Adafactor divides by gradients near 0 here: rounding errors grow to 1e-3 in 20
                 // steps
      options_.epochs = 2;
      options_.optimizer.kind = mesh::OptimizerOptions::Kind::Sgd;
      options_.optimizer.learning_rate = 0.05;
    }
    const auto whole = run(options_);
    ASSERT_TRUE(whole) << whole.error().text();
    std::vector<std::pair<const char*, const char*>> layouts = {{"x:2", "batch:x"},
                                                                {"x:2", "hidden1:x"},
                                                                {"x:2;y:2", "batch:x;hidden1:y"},
                                                                {"x:2", "auto"},
                                                                {"x:2;y:2", "auto"}};
    if (conv) layouts.emplace_back("x:2;y:2", "row_blocks:x;col_blocks:y");
    for (const auto& [mesh, layout] : layouts) {
      TrainOptions split = options_;
      split.mesh = mesh;
      split.layout = layout;
      const auto got = run(split);
      ASSERT_TRUE(got) << layout << ": " << got.error().text();
      for (size_t i = 0; i < whole->size(); ++i) {
        EXPECT_NEAR((*got)[i].train_loss, (*whole)[i].train_loss, 1e-3) << mesh << " " << layout;
        EXPECT_NEAR((*got)[i].test_loss, (*whole)[i].test_loss, 1e-3) << mesh << " " << layout;
      }
    }
  }
}

TEST_F(Trainer, ASignalEndsThePlanningToo) {
  options_.mesh = "x:2";
  options_.layout = "auto";
  options_.checkpoint = (folder_ / "saved").string();
  stop_requested = true;
  const auto result = run(options_);
  stop_requested = false;
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_TRUE(result->empty());
  EXPECT_FALSE(fs::exists(options_.checkpoint));
}

TEST_F(Trainer, LanguageModelsLearnTextThatShipsWithAPackage) {
  const std::string text = "/usr/share/common-licenses/GPL-3";
  if (!fs::exists(text)) GTEST_SKIP() << text << " is absent (package base-files)";
  TrainOptions lm = language_model(text);
  lm.train_limit = 256;
  lm.test_limit = 32;
  lm.transformer = {16, 32, 256, 32, 2, 16, 64, 1, true, false, 0};
  for (const char* model : {"causal", "masked"}) {
    lm.model = model;
    lm.mesh = lm.layout = "";
    const auto whole = run(lm);
    ASSERT_TRUE(whole) << whole.error().text();
    // Nats per byte: 5.5 for uniform predictions, 3.1 for the frequency of each byte.
    EXPECT_LT(whole->back().train_loss, std::string(model) == "causal" ? 2.95 : 3.3);
    EXPECT_LT(whole->back().train_loss, whole->front().train_loss - 0.3);
    lm.mesh = "data:2;model:2";
    lm.layout = "batch:data;heads:model;d_ff:model;vocab:model";
    const auto split = run(lm);
    ASSERT_TRUE(split) << split.error().text();
    EXPECT_NEAR(split->back().train_loss, whole->back().train_loss, 5e-3) << model;
  }
}

TEST_F(Trainer, AMaskedModelFillsInFromWhatStandsAround) {
  // A byte is determined by any other one and its distance; alone it has ln 7 = 1.95 nats.
  const std::string text = (folder_ / "period.txt").string();
  {
    std::ofstream out(text);
    for (int i = 0; i < 1200; ++i) out << "gobanxy";
  }
  TrainOptions lm = language_model(text);
  lm.model = "masked";
  lm.train_limit = 448;
  lm.test_limit = 48;
  lm.transformer = {16, 16, 256, 32, 2, 16, 64, 1, false, false, 0};
  for (const auto& [mesh, layout] :
       {std::pair("", ""), std::pair("x:2", "length:x"), std::pair("x:2", "heads:x;d_ff:x")}) {
    lm.mesh = mesh;
    lm.layout = layout;
    const auto got = run(lm);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_LT(got->back().test_loss, 0.8) << layout;
    EXPECT_GT(got->back().test_accuracy, 0.7) << layout;
  }
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

TEST_F(Trainer, TheLastSmallerBatchIsKeptOrDropped) {
  options_.batch_size = 100;
  options_.epochs = 1;
  const auto kept = run(options_);
  ASSERT_TRUE(kept) << kept.error().text();
  EXPECT_EQ(kept->back().step, 3);
  options_.last_batch = LastBatch::Drop;
  const auto dropped = run(options_);
  ASSERT_TRUE(dropped);
  EXPECT_EQ(dropped->back().step, 2);
  // The mean over all samples: 2 of 3 steps are the same, the third has a weight of 40 / 240.
  options_.train_limit = 240;
  options_.last_batch = LastBatch::Keep;
  options_.mesh = "x:2;y:2";
  options_.layout = "batch:x;hidden1:y";
  const auto split = run(options_);
  ASSERT_TRUE(split) << split.error().text();
  EXPECT_NEAR(split->back().train_loss, kept->back().train_loss, 1e-4);
  EXPECT_NE(kept->back().train_loss, dropped->back().train_loss);
  options_.train_limit = 215;
  EXPECT_THAT(run(options_).error().text(), HasSubstr("the last batch of an epoch has 15 samples"));
  EXPECT_THAT(run(options_).error().text(), HasSubstr("--last-batch drop"));
}

TEST_F(Trainer, OfATestSetThatTheLayoutDoesNotDivideTheRestIsLeftOut) {
  options_.epochs = 1;
  options_.test_limit = 16;
  options_.mesh = "x:4";
  options_.layout = "batch:x";
  const auto even = run(options_);
  ASSERT_TRUE(even) << even.error().text();
  options_.test_limit = 17;
  const auto odd = run(options_);
  ASSERT_TRUE(odd) << odd.error().text();
  EXPECT_DOUBLE_EQ(odd->back().test_loss, even->back().test_loss);
}

TEST_F(Trainer, EvaluatesByStepsAndEndsAfterSoMany) {
  options_.evaluate_every = 4;
  options_.most_steps = 14;  // one epoch is 10
  const auto result = run(options_);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->size(), 4U);
  EXPECT_EQ((*result)[1].step, 8);
  EXPECT_EQ((*result)[2].step, 12);
  EXPECT_EQ((*result)[2].epoch, 2);
  EXPECT_EQ((*result)[3].step, 14);
}

TEST_F(Trainer, TheScheduleScaleGivesTheRateOfALaterStep) {
  options_.epochs = 1;
  options_.most_steps = 1;
  const auto first = run(options_);
  options_.optimizer.schedule_scale = 1e8;  // 1 / sqrt(1e8): the rate is 1e-4, not 1e-2
  const auto later = run(options_);
  ASSERT_TRUE(first && later);
  EXPECT_EQ(first->back().train_loss, later->back().train_loss);
  EXPECT_GT(later->back().test_loss, first->back().test_loss);
}

/// A scheduler that listens on the progress socket.
class Listener {
 public:
  explicit Listener(const std::string& path) : listening_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    bind(listening_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    listen(listening_, 4);
  }
  ~Listener() { close(listening_); }
  std::string heard() const {
    const int accepted = accept(listening_, nullptr, nullptr);
    std::string text;
    std::array<char, 512> buffer{};
    ssize_t got = 0;
    while ((got = read(accepted, buffer.data(), buffer.size())) > 0) {
      text.append(buffer.data(), static_cast<size_t>(got));
    }
    close(accepted);
    return text;
  }

 private:
  int listening_;
};

TEST_F(Trainer, ReportsProgressToTheSocketOfTheScheduler) {
  const std::string path = (folder_ / "progress.sock").string();
  const Listener listener(path);
  setenv("GOBAN_PROGRESS_SOCKET", path.c_str(), 1);
  setenv("GOBAN_JOB_ID", "42", 1);
  options_.mesh = "x:2";
  options_.layout = "batch:x";
  const auto result = run(options_);
  unsetenv("GOBAN_PROGRESS_SOCKET");
  unsetenv("GOBAN_JOB_ID");
  ASSERT_TRUE(result);
  const std::string heard = listener.heard();
  EXPECT_THAT(heard, ::testing::StartsWith("goban-progress 1 job=42 pid="));
  EXPECT_THAT(heard, HasSubstr("\nprogress epoch=1 epochs=4 step=1 steps=40 loss=2."));
  EXPECT_THAT(heard, HasSubstr("\nprogress epoch=4 epochs=4 step=40 steps=40 loss="));
  EXPECT_THAT(heard, ::testing::MatchesRegex("(.|\n)*input_stall_pct=[0-9.e+-]+\n(.|\n)*"));
  EXPECT_THAT(heard, ::testing::EndsWith("\nend done\n"));
}

TEST_F(Trainer, ARunWithoutItsSchedulerGoesOn) {
  setenv("GOBAN_PROGRESS_SOCKET", (folder_ / "nobody.sock").c_str(), 1);
  ::testing::internal::CaptureStderr();
  const auto result = run(options_);
  unsetenv("GOBAN_PROGRESS_SOCKET");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("warning: progress: cannot"));
  EXPECT_TRUE(result);
}

TEST_F(Trainer, MeasuredWireBytesOfAStepAreThePlanned) {
  for (const char* model : {"conv", "mlp"}) {
    for (const auto& [mesh, layout] :
         {std::pair("x:2", "batch:x"), std::pair("x:4", "hidden1:x"),
          std::pair("x:2;y:2", "batch:x;hidden1:y"), std::pair("x:2;y:2", "hidden1:x;hidden2:y"),
          std::pair("x:2;y:2", "row_blocks:x;col_blocks:y")}) {
      if (std::string(model) == "mlp" && std::string(layout).find("blocks") < 9) continue;
      TrainOptions options = options_;
      options.model = model;
      options.mesh = mesh;
      options.layout = layout;
      options.batch_size = 4;
      const auto devices = mesh::MeshShape::parse(mesh)->devices();
      const auto status = comm::run_threads(
          static_cast<int>(devices), {}, [&](comm::Communicator& end) -> base::Status {
            mesh::DeviceMemory memory(0);
            auto graph = build_step(options);
            if (!graph) return base::failure(graph.error());
            const auto chosen = choose(options, **graph, end);
            auto step = TrainingStep::create(options, std::move(*graph), *chosen, end, memory);
            if (!step) return base::failure(step.error());
            const int64_t before = end.traffic().total_bytes();
            if (auto s = (*step)->run((*step)->zero_feeds(), 0); !s) {
              return base::failure(s.error());
            }
            const int64_t sent = end.traffic().total_bytes() - before;
            EXPECT_GT(sent, 0);
            EXPECT_EQ(sent, (*step)->plan().totals.sent_bytes) << model << " " << layout;
            return {};
          });
      EXPECT_TRUE(status) << status.error().text();
    }
  }
}

TEST_F(Trainer, ALabelThatIsNoClassIsRefusedWithItsFile) {
  const std::string path = (folder_ / "mnist" / "t10k-labels-idx1-ubyte").string();
  std::string bytes = contents(path);
  bytes[8 + 7] = static_cast<char>(200);
  std::ofstream(path, std::ios::binary) << bytes;
  const auto result = run(options_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::ErrorCode::BadData);
  EXPECT_THAT(
      result.error().text(),
      HasSubstr("t10k-labels-idx1-ubyte: label 200 of image 7 is not one of the 10 classes"));
}

TEST_F(Trainer, WrongOptionsAreNamed) {
  options_.batch_size = 1000;
  EXPECT_THAT(run(options_).error().text(), HasSubstr("larger than the 240 training samples"));
  options_.batch_size = 24;
  options_.micro_batches = 5;
  EXPECT_THAT(run(options_).error().text(), HasSubstr("is not divisible into 5 micro-batches"));
  options_.micro_batches = 1;
  options_.data_dir = "/nonexistent";
  EXPECT_THAT(run(options_).error().text(), HasSubstr("goban-train data fetch mnist"));
}

}  // namespace
}  // namespace goban::train::trainer

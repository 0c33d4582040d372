// Complete runs on a device that is not the CPU (tests/standin_device): models, updates, batches,
// evaluation, checkpoints and the planner's measurements. Any tensor left on the host ends a run.
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

#include "train/comm/nccl_world.hpp"
#include "train/comm/thread_world.hpp"
#include "train/mesh/matmul.hpp"
#include "train/trainer/test_images.hpp"
#include "train/trainer/trainer.hpp"

extern "C" void* goban_standin_memory(const void* data);

namespace goban::train::trainer {
namespace {

namespace fs = std::filesystem;
using Results = std::vector<EpochResult>;

class DeviceRun : public ::testing::Test {
 protected:
  DeviceRun() {
    fs::remove_all(folder_);
    write_images(folder_ / "mnist");
    options_.data_dir = folder_.string();
    options_.hidden = 16;
    options_.batch_size = 24;
    options_.train_limit = 48;
    options_.test_limit = 20;
    options_.epochs = 2;
    options_.quiet = true;
    options_.transformer = {};
    options_.transformer.length = 16;
    options_.transformer.d_model = 16;
    options_.transformer.d_ff = 16;
    options_.transformer.blocks = 1;
    const std::string text = (folder_ / "text").string();
    std::ofstream out(text);
    for (int i = 0; i < 400; ++i) out << "one device, two devices; ";
    options_.texts = {text};
    // Forces the linker to keep the device library.
    EXPECT_EQ(goban_standin_memory(&options_), nullptr);
    // Our CPU kernels do not run on the device.
    mesh::use_own_kernels(false);
  }
  ~DeviceRun() override {
    mesh::use_own_kernels(true);
    fs::remove_all(folder_);
  }

  Results run(const std::string& device, bool nccl, const TrainOptions& base) {
    TrainOptions options = base;
    options.device = device;
    Results out;
    const auto status = comm::run_threads(2, {}, [&](comm::Communicator& host) -> base::Status {
      std::unique_ptr<comm::Communicator> gpu;
      if (nccl) {
        auto started = comm::start_nccl(host, host.rank(), {GOBAN_FAKE_NCCL, GOBAN_FAKE_NCCL});
        if (!started) return base::failure(started.error());
        gpu = std::move(*started);
      }
      auto result = train(options, nccl ? *gpu : host);
      if (!result) return base::failure(result.error());
      if (host.rank() == 0) out = *result;
      return {};
    });
    EXPECT_TRUE(status) << status.error().text();
    return out;
  }

  void expect_equal(const Results& got, const Results& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    ASSERT_FALSE(got.empty());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i].train_loss, wanted[i].train_loss, 1e-4);
      EXPECT_NEAR(got[i].test_loss, wanted[i].test_loss, 1e-4);
    }
  }

  fs::path folder_ = fs::path(::testing::TempDir()) / ("goban_device_" + std::to_string(getpid()));
  TrainOptions options_;
};

TEST_F(DeviceRun, ImageModelsTrainAsOnTheProcessor) {
  options_.mesh = "x:2";
  options_.layout = "batch:x";
  for (const char* model : {"mlp", "conv"}) {
    options_.model = model;
    const Results wanted = run("cpu", false, options_);
    expect_equal(run("privateuseone", false, options_), wanted);
    options_.layout = model == std::string("mlp") ? "hidden1:x" : "row_blocks:x";
    expect_equal(run("privateuseone", true, options_), wanted);
    options_.layout = "batch:x";
  }
}

TEST_F(DeviceRun, TheTransformerWithDropoutTrainsAsOnTheProcessor) {
  options_.task = "lm";
  options_.model = "masked";
  options_.transformer.dropout = 0.1;
  options_.optimizer.kind = mesh::OptimizerOptions::Kind::AdamW;
  options_.mesh = "x:2";
  options_.layout = "heads:x;d_ff:x;vocab:x";
  const Results wanted = run("cpu", false, options_);
  expect_equal(run("privateuseone", true, options_), wanted);
}

TEST_F(DeviceRun, GradientsAreSummedByNcclWhileTheDeviceComputes) {
  options_.mesh = "x:2";
  options_.layout = "batch:x";
  options_.model = "mlp";
  const Results wanted = run("cpu", false, options_);
  options_.overlap = mesh::Overlap::Buckets;
  options_.bucket_bytes = 2000;
  expect_equal(run("privateuseone", true, options_), wanted);
  // Through the host nothing overlaps, and the run is the same.
  expect_equal(run("privateuseone", false, options_), wanted);
}

TEST_F(DeviceRun, LoaderThreadsSendFeedsToTheDevice) {
  options_.mesh = "x:2";
  options_.layout = "batch:x";
  options_.model = "mlp";
  const Results wanted = run("cpu", false, options_);
  options_.feeding.threads = 2;
  expect_equal(run("privateuseone", true, options_), wanted);
  options_.layout = "hidden1:x";  // each rank is fed the whole batch
  expect_equal(run("privateuseone", true, options_), wanted);
}

TEST_F(DeviceRun, AStoppedRunGoesOnOnAnotherDeviceUnderThePlannersLayout) {
  options_.model = "mlp";
  options_.layout = "auto";
  const Results wanted = run("cpu", false, options_);
  options_.checkpoint = (folder_ / "saved").string();
  options_.epochs = 1;
  run("privateuseone", true, options_);
  options_.epochs = 2;
  const Results resumed = run("cpu", false, options_);
  ASSERT_EQ(resumed.size(), 1U);
  EXPECT_NEAR(resumed[0].train_loss, wanted[1].train_loss, 1e-4);
}

}  // namespace
}  // namespace goban::train::trainer

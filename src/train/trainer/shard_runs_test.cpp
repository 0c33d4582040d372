// Runs fed from shards and token files: equal results with any number of loader threads, exact
// resuming, parts of ranks, and bad samples.
#include <ATen/ops/full.h>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <thread>

#include "base/reports/job_profile.hpp"
#include "base/reports/time_table.hpp"
#include "train/comm/thread_world.hpp"
#include "train/data/image.hpp"
#include "train/data/sample_source.hpp"
#include "train/data/shard_set.hpp"
#include "train/data/tar_writer.hpp"
#include "train/trainer/load_ahead.hpp"
#include "train/trainer/shard_images.hpp"
#include "train/trainer/stopping.hpp"
#include "train/trainer/test_runs.hpp"
#include "train/trainer/trainer.hpp"

namespace goban::train::trainer {
namespace {

using ::testing::HasSubstr;

class ShardRuns : public TestRuns, public ::testing::Test {
 protected:
  ShardRuns() : TestRuns("shard_runs") {
    const auto set = data::read_image_set((folder_ / "mnist").string());
    pack("train", set->train_images, set->train_labels);
    pack("test", set->test_images, set->test_labels);
    shards_ = options_;
    shards_.data_dir = (folder_ / "train-{0..4}.tar").string();
    shards_.feeding.test_data = (folder_ / "test-0.tar").string();
    shards_.feeding.shuffle_buffer = 30;
    shards_.epochs = 8;
  }
  void pack(const std::string& name, const data::IdxArray& images, const data::IdxArray& labels,
            const std::string& after_label = "") {
    auto writer =
        data::ShardWriter::create((folder_ / (name + "-%d.tar")).string(), {50, 1'000'000'000});
    const auto sink = [&](data::Sample sample) {
      for (data::Field& each : sample.fields) {
        if (each.name == "cls") each.bytes += after_label;
      }
      return writer->add(sample);
    };
    EXPECT_TRUE(data::each_in_idx(images, labels, sink));
    EXPECT_TRUE(writer->finish());
  }
  /// Replaces bytes inside the shard, where an image begins.
  void damage_image() const {
    const std::string path = (folder_ / "train-2.tar").string();
    std::string bytes = contents(path);
    bytes.replace(bytes.find("P5\n28 28"), 2, "GI");
    std::ofstream(path, std::ios::binary) << bytes;
  }
  /// Corrupt samples, as the checkpoint says.
  [[nodiscard]] int64_t replaced() const {
    const std::string saved = contents(shards_.checkpoint + "/checkpoint.goban");
    static const std::string kKey = "\nreplaced=";
    const size_t at = saved.find(kKey);
    return at == std::string::npos ? 0 : std::atoll(saved.c_str() + at + kKey.size());
  }
  TrainOptions shards_;
};

TEST_F(ShardRuns, TheNumberOfLoaderThreadsChangesNothing) {
  std::vector<double> losses;
  for (const int threads : {0, 1, 3, kAutoThreads}) {
    shards_.feeding.threads = threads;
    shards_.last_batch = LastBatch::Keep;
    shards_.batch_size = 50;  // 240 samples: four whole batches and one of 40
    const auto results = run(shards_);
    ASSERT_TRUE(results) << results.error().text();
    losses.push_back(results->back().train_loss);
    EXPECT_GT(results->back().test_accuracy, 0.7);
  }
  EXPECT_EQ(losses, std::vector<double>(4, losses[0]));
}

// Files of labels that an editor or `echo` wrote.
TEST_F(ShardRuns, LabelsMayEndWithANewline) {
  shards_.epochs = 1;
  const auto plain = run(shards_);
  const auto set = data::read_image_set((folder_ / "mnist").string());
  pack("train", set->train_images, set->train_labels, "\n");
  const auto lines = run(shards_);
  ASSERT_TRUE(plain && lines);
  EXPECT_EQ(plain->back().test_loss, lines->back().test_loss);
}

TEST_F(ShardRuns, BatchesInMemoryAreTheSameAheadOfTime) {
  const auto plain = run(options_);
  options_.feeding.threads = 2;
  const auto ahead = run(options_);
  ASSERT_TRUE(plain && ahead);
  EXPECT_EQ(plain->back().test_loss, ahead->back().test_loss);
}

TEST_F(ShardRuns, ResumesInsideAnEpoch) {
  shards_.most_steps = 17;
  const auto whole = run(shards_);
  shards_.checkpoint = (folder_ / "saved").string();
  shards_.most_steps = 13;  // 10 steps an epoch
  ASSERT_TRUE(run(shards_));
  shards_.most_steps = 17;
  const auto resumed = run(shards_);
  ASSERT_TRUE(whole && resumed) << resumed.error().text();
  EXPECT_EQ(whole->back().test_loss, resumed->back().test_loss);
  shards_.feeding.shuffle_buffer = 31;
  shards_.most_steps = 20;
  EXPECT_THAT(run(shards_).error().text(), HasSubstr("order of samples"));
}

TEST_F(ShardRuns, RanksReadTheirPartAndReplicasTheSame) {
  for (const auto& [mesh, layout] : {std::pair("x:2", "batch:x"), std::pair("x:2", "hidden:x"),
                                     std::pair("x:2;y:2", "batch:x;hidden:y")}) {
    shards_.mesh = mesh;
    shards_.layout = layout;
    const auto results = run(shards_);
    ASSERT_TRUE(results) << results.error().text();
    EXPECT_GT(results->back().test_accuracy, 0.9) << layout;
  }
  // The rows of all parts are the samples of an epoch, once each.
  std::vector<double> rows;
  for (const int64_t part : {0, 1, 2}) {
    const auto batches = shard_images(shards_, {part, 3});
    ASSERT_TRUE(batches);
    EXPECT_EQ((*batches)->train_size(), 240);
    for (int64_t begin = 0; begin < 240; begin += 24) {
      const auto feeds = (*batches)->train(1, begin, 24);
      ASSERT_TRUE(feeds);
      const at::Tensor sums = feeds->at("image").sum(1);
      ASSERT_EQ(sums.size(0), 8);
      for (int64_t i = 0; i < 8; ++i) rows.push_back(sums.data_ptr<float>()[i]);
    }
  }
  const auto all = shard_images(shards_, {});
  const at::Tensor whole = (*all)->train(0, 0, 240)->at("image").sum(1);
  std::vector<double> wanted(whole.data_ptr<float>(), whole.data_ptr<float>() + 240);
  std::ranges::sort(rows);
  std::ranges::sort(wanted);
  EXPECT_EQ(rows, wanted);
}

TEST_F(ShardRuns, ADamagedImageEndsTheRunOrIsCounted) {
  damage_image();
  const auto failed = run(shards_);
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().text(), HasSubstr("train-2.tar, sample '00000100' at byte 0"));
  shards_.feeding.skip_corrupt = true;
  EXPECT_TRUE(run(shards_));
  const auto batches = shard_images(shards_, {});
  ASSERT_TRUE(batches);
  ASSERT_TRUE((*batches)->train(0, 0, 240));
  EXPECT_EQ((*batches)->skipped(), 1);
}

TEST_F(ShardRuns, CorruptSamplesOfAllRanksCountAcrossContinuations) {
  damage_image();
  shards_.feeding.skip_corrupt = true;
  for (const char* mesh : {"", "x:2"}) {
    shards_.mesh = mesh;
    shards_.layout = *mesh == '\0' ? "" : "batch:x";
    shards_.checkpoint = (folder_ / "saved" / ("on-" + std::string(mesh))).string();
    for (const int64_t epochs : {1, 3}) {
      shards_.epochs = epochs;
      const auto results = run(shards_);
      ASSERT_TRUE(results) << results.error().text();
      EXPECT_EQ(replaced(), epochs) << mesh;
    }
  }
}

// Threads prepare samples that a run may never reach.
TEST_F(ShardRuns, CorruptSamplesCountWhenTheyAreTrainedOn) {
  damage_image();  // sample 100 of 240
  shards_.feeding.skip_corrupt = true;
  shards_.feeding.shuffle_buffer = 0;
  shards_.train_limit = 239;  // shards in order
  for (const int threads : {0, 1, 3}) {
    shards_.feeding.threads = threads;
    const auto batches = open_batches(shards_);
    ASSERT_TRUE(batches) << batches.error().text();
    std::vector<int64_t> counts;
    for (int64_t begin = 0; begin < 120; begin += 24) {
      ASSERT_TRUE((*batches)->train(0, begin, 24));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the threads go ahead
      counts.push_back((*batches)->skipped());
    }
    EXPECT_EQ(counts, (std::vector<int64_t>{0, 0, 0, 0, 1})) << threads;
  }
}

TEST_F(ShardRuns, ReadingIsMeasuredWithoutThreads) {
  shards_.feeding.threads = 0;
  const auto batches = open_batches(shards_);
  ASSERT_TRUE(batches) << batches.error().text();
  ASSERT_TRUE((*batches)->train(0, 0, 24));
  const Preparing preparing = (*batches)->preparing();
  EXPECT_GT(preparing.read_s, 0);
  EXPECT_GT(preparing.busy_s, preparing.read_s);
  EXPECT_GT(preparing.read_bytes, 24 * 784);
}

// Equal names, sizes and counts: the contents tell.
TEST_F(ShardRuns, ACheckpointIsNotContinuedOnOtherLabels) {
  shards_.checkpoint = (folder_ / "saved").string();
  shards_.epochs = 1;
  ASSERT_TRUE(run(shards_));
  shards_.epochs = 2;
  const std::string path = (folder_ / "train-4.tar").string(), whole = contents(path);
  std::string other = whole;
  other[512] = other[512] == '1' ? '2' : '1';  // the first member is a label
  std::ofstream(path, std::ios::binary) << other;
  const auto refused = run(shards_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::BadData);
  EXPECT_THAT(refused.error().text(), HasSubstr("with training data of checksum = "));
  EXPECT_THAT(refused.error().text(), HasSubstr("earlier releases"));
  std::ofstream(path, std::ios::binary) << whole;
  EXPECT_TRUE(run(shards_));
}

// An epoch of many steps: the run is stopped in its first one.
TEST_F(ShardRuns, AStoppedRunHasItsLastPartInItsTimelineAndNoTimeOfAnEpoch) {
  shards_.feeding.resample = true;
  shards_.train_limit = 100'000'000;
  shards_.epochs = 1;
  shards_.quiet = false;
  shards_.out = (folder_ / "out").string();
  const std::filesystem::path out = shards_.out;
  std::filesystem::create_directories(out);
  std::ofstream(out / "time_table.json") << "of an earlier run";
  std::thread stops([&] {
    while (std::filesystem::exists(out / "time_table.json")) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop_requested = true;
  });
  const auto stopped = run(shards_);
  stops.join();
  stop_requested = false;
  ASSERT_TRUE(stopped) << stopped.error().text();
  EXPECT_TRUE(stopped->empty());
  const auto profile =
      base::reports::parse_job_profile(contents((out / "profile.json").string()), "profile.json");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_FALSE(profile->epoch_s);
  EXPECT_TRUE(profile->iteration_s);
  const auto table =
      base::reports::parse_time_table(contents((out / "time_table.json").string()), "t.json");
  ASSERT_TRUE(table) << table.error().text();
  ASSERT_EQ(table->intervals.size(), 1U);
  EXPECT_GT(table->intervals[0].step, 0);
  EXPECT_GT(table->intervals[0].end_s, 0.9 * table->wall_s);
  EXPECT_THAT(table->options, ::testing::Contains("--data"));
}

TEST_F(ShardRuns, ARunThatFailsLeavesNoResultsOfAnEarlierOne) {
  shards_.out = (folder_ / "out").string();
  shards_.epochs = 1;
  shards_.quiet = false;
  ASSERT_TRUE(run(shards_));
  const std::filesystem::path out = shards_.out;
  EXPECT_TRUE(std::filesystem::exists(out / "time_table.json"));
  damage_image();
  EXPECT_FALSE(run(shards_));
  for (const char* name : {"time_table.json", "profile.json", "metrics.prom"}) {
    EXPECT_FALSE(std::filesystem::exists(out / name)) << name;
  }
  EXPECT_TRUE(std::filesystem::exists(out / "metrics.csv"));
}

TEST_F(ShardRuns, ASampleWithoutLabelOrImageIsNamed) {
  const auto error_without = [&](const std::string& field, const std::string& instead) {
    const std::string path = (folder_ / "train-1.tar").string();
    const std::string whole = contents(path);
    std::string bytes = whole;
    // Only the name of the first member changes, so the sum of its header by the difference.
    const size_t at = bytes.find("." + field) + 1;
    int sum = static_cast<int>(std::stol(bytes.substr(at / 512 * 512 + 148, 6), nullptr, 8));
    for (size_t i = 0; i < field.size(); ++i) sum += instead[i] - field[i];
    bytes.replace(at, field.size(), instead);
    bytes.replace(at / 512 * 512 + 148, 6, fmt::format("{:06o}", sum));
    std::ofstream(path, std::ios::binary) << bytes;
    const auto result = run(shards_);
    std::ofstream(path, std::ios::binary) << whole;
    return result ? "" : result.error().text();
  };
  EXPECT_THAT(error_without("cls", "txt"),
              HasSubstr("train-1.tar, sample '00000050' at byte 0: has no label (cls)"));
  EXPECT_THAT(error_without("pgm", "txt"), HasSubstr("has no image (jpg, jpeg, png or pgm)"));
}

TEST_F(ShardRuns, ATruncatedShardEndsTheRunWithItsName) {
  const std::string path = (folder_ / "train-3.tar").string();
  // The samples are counted before; the file is cut while the run reads.
  const auto batches = shard_images(shards_, {});
  ASSERT_TRUE(batches);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto feeds = (*batches)->train(0, 0, 240);
  ASSERT_FALSE(feeds);
  EXPECT_THAT(feeds.error().text(), HasSubstr("train-3.tar"));
}

TEST_F(ShardRuns, ReplicasWithDifferentSamplesAreNamed) {
  std::vector<std::string> shards;
  for (int i = 0; i < 5; ++i) {
    shards.push_back((folder_ / fmt::format("train-{}.tar", i)).string());
  }
  ASSERT_TRUE(data::add_to_index((folder_ / "index.json").string(), shards, {}));
  const auto status = comm::run_threads(2, {}, [&](comm::Communicator& end) -> base::Status {
    TrainOptions mine = shards_;
    mine.mesh = "x:2";
    mine.layout = "hidden:x";
    // The same sizes, counts and MD5 sums, other contents: the index cannot tell.
    if (end.rank() == 1) {
      std::filesystem::create_directories(folder_ / "other");
      for (int i = 0; i < 5; ++i) {
        const std::string name = fmt::format("train-{}.tar", i);
        std::string bytes = contents((folder_ / name).string());
        for (size_t at = 0; (at = bytes.find("P5\n28 28\n255\n", at)) != std::string::npos; ++at) {
          bytes[at + 500] = static_cast<char>(bytes[at + 500] ^ 1);
        }
        std::ofstream((folder_ / "other" / name).string(), std::ios::binary) << bytes;
      }
      std::filesystem::copy(folder_ / "index.json", folder_ / "other" / "index.json");
      mine.data_dir = (folder_ / "other" / "train-{0..4}.tar").string();
    }
    const auto result = train(mine, end);
    return result ? base::Status{} : base::Status(base::failure(result.error()));
  });
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().text(), HasSubstr("feed part 0 of the batch with different samples"));
}

TEST_F(ShardRuns, TokenFilesAreTextByTokens) {
  const std::string text = (folder_ / "text").string(), bin = (folder_ / "t.bin").string();
  {
    std::ofstream plain(text, std::ios::binary), tokens(bin, std::ios::binary);
    for (int i = 0; i < 4000; ++i) {
      const char c = static_cast<char>('a' + i * i % 17);
      plain << c;
      tokens << c << '\0';
    }
  }
  TrainOptions lm = language_model(text);
  lm.transformer.length = 16;
  lm.transformer.blocks = 1;
  lm.epochs = 1;
  lm.last_batch = LastBatch::Drop;
  const auto of_text = run(lm);
  lm.data_dir = bin;
  const auto of_tokens = run(lm);
  ASSERT_TRUE(of_text && of_tokens) << of_tokens.error().text();
  EXPECT_EQ(of_text->back().test_loss, of_tokens->back().test_loss);
  lm.mesh = "x:2";
  lm.layout = "batch:x";
  const auto split = run(lm);
  ASSERT_TRUE(split) << split.error().text();
  EXPECT_NEAR(split->back().test_loss, of_text->back().test_loss, 1e-4);
  lm.transformer.vocab = 100;
  EXPECT_THAT(run(lm).error().text(), HasSubstr("the vocabulary has 100"));
}

TEST(LoadAhead, RequestsFollowTheRun) {
  TrainOptions options;
  options.batch_size = 50;
  options.micro_batches = 2;
  EXPECT_EQ(request_after({0, 0, 25}, options, 140), (FeedRequest{0, 25, 25}));
  EXPECT_EQ(request_after({0, 75, 25}, options, 140), (FeedRequest{0, 100, 20}));
  EXPECT_EQ(request_after({0, 120, 20}, options, 140), (FeedRequest{1, 0, 25}));
  EXPECT_EQ(request_after({0, 75, 25}, options, 141), (FeedRequest{0, 100, 41}));
  options.last_batch = LastBatch::Drop;
  EXPECT_EQ(request_after({0, 75, 25}, options, 140), (FeedRequest{1, 0, 25}));
}

/// Feeds of one number; finishing one takes `work`, on any thread.
class SlowBatches final : public Batches {
 public:
  explicit SlowBatches(std::chrono::microseconds work) : work_(work) {}
  int64_t train_size() const override { return int64_t{1} << 20; }
  int64_t test_size() const override { return 1; }
  base::Result<Finish> take(int64_t, int64_t begin, int64_t) override {
    return Finish([work = work_, begin]() -> base::Result<Fed> {
      std::this_thread::sleep_for(work);
      return Fed{{{"x", at::full({1}, begin)}}};
    });
  }
  mesh::Feeds test(int64_t, int64_t) override { return {}; }
  uint32_t train_checksum() const override { return 0; }
  uint32_t test_checksum() const override { return 0; }

 private:
  std::chrono::microseconds work_;
};

TEST(LoadAhead, AutoAddsThreadsUntilTheRunWaitsNoMore) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core";
  TrainOptions options;
  options.batch_size = 1;
  options.feeding.threads = kAutoThreads;
  const auto threads_after = [&](std::chrono::microseconds work, std::chrono::microseconds step) {
    const auto loaded = load_ahead(std::make_unique<SlowBatches>(work), options);
    EXPECT_EQ(loaded->preparing().threads, 1U);
    constexpr int64_t kSteps = 200;
    for (int64_t i = 0; i < kSteps; ++i) {
      const auto feeds = loaded->train(0, i, 1);
      EXPECT_TRUE(feeds && feeds->at("x").item<int64_t>() == i);
      std::this_thread::sleep_for(step);
    }
    return loaded->preparing().threads;
  };
  using std::chrono::microseconds;
  EXPECT_GE(threads_after(microseconds(4000), microseconds(2000)), 2U);  // one cannot keep up
}

}  // namespace
}  // namespace goban::train::trainer

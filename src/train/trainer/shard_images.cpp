#include "train/trainer/shard_images.hpp"

#include <ATen/ops/empty.h>
#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <optional>

#include "base/clock.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "train/data/image.hpp"
#include "train/data/sample_source.hpp"
#include "train/data/shard_stream.hpp"

namespace goban::train::trainer {
namespace {

constexpr int64_t kSide = 28, kClasses = 10;

/// Rows of images and labels, filled one by one.
struct ImageRows {
  explicit ImageRows(int64_t rows)
      : images(at::empty({rows, kSide * kSide}, at::kFloat)),
        labels(at::empty({rows}, at::kLong)) {}
  at::Tensor images, labels;

  void copy_row(int64_t from, int64_t to) {
    const float* source = images.data_ptr<float>() + from * kSide * kSide;
    std::copy_n(source, kSide * kSide, images.data_ptr<float>() + to * kSide * kSide);
    labels.data_ptr<int64_t>()[to] = labels.data_ptr<int64_t>()[from];
  }
  [[nodiscard]] mesh::Feeds feeds() const { return {{"image", images}, {"label", labels}}; }

  /// Errors: BadData, naming shard, sample and offset.
  base::Status decode(const data::Sample& sample, int64_t row) {
    const auto bad = [&](std::string why) {
      return base::bad_data({sample.place(), 0, 0, ""}, std::move(why),
                            "mend the shard, or use --corrupt skip-and-count");
    };
    const auto found = std::ranges::find_if(
        sample.fields, [](const data::Field& each) { return data::is_image_field(each.name); });
    if (found == sample.fields.end()) return bad("has no image (jpg, jpeg, png or pgm)");
    const std::string* text = sample.find("cls");
    if (text == nullptr) return bad("has no label (cls)");
    const auto label = base::parse_int(base::trimmed(*text));  // files end with a newline
    if (!label || *label < 0 || *label >= kClasses) return bad("its label is not 0 to 9");
    const auto image = data::decode_grey(found->bytes);
    if (!image) return bad(image.error().message);
    if (image->width != kSide || image->height != kSide) {
      return bad(
          fmt::format("its image has {} x {} pixels, not 28 x 28", image->width, image->height));
    }
    float* out = images.data_ptr<float>() + row * kSide * kSide;
    std::ranges::transform(image->pixels, out, [](uint8_t pixel) {
      return static_cast<float>(pixel) * static_cast<float>(1.0 / 255);
    });
    labels.data_ptr<int64_t>()[row] = *label;
    return {};
  }
};

class ShardImages final : public Batches {
 public:
  ShardImages(data::ShardStream stream, uint32_t checksum, uint32_t test_checksum, ImageRows test,
              FedPart part, const Feeding& feeding)
      : stream_(std::move(stream)),
        checksum_(checksum),
        test_checksum_(test_checksum),
        test_(std::move(test)),
        part_(part),
        feeding_(feeding) {}

  int64_t train_size() const override { return stream_.share() * part_.parts; }
  int64_t test_size() const override { return test_.labels.size(0); }
  base::Result<Finish> take(int64_t epoch, int64_t begin, int64_t count) override {
    const double begin_s = base::steady_s();
    const int64_t first = begin / part_.parts, rows = count / part_.parts;
    if (epoch != epoch_ || first != position_) stream_.seek(epoch, first);
    epoch_ = epoch;
    position_ = first + rows;
    auto samples = std::make_shared<std::vector<data::Sample>>();
    for (int64_t i = 0; i < rows; ++i) {
      auto sample = stream_.next();
      if (!sample) return base::failure(sample.error());
      for (const data::Field& each : sample->fields) {
        read_bytes_ += static_cast<int64_t>(each.bytes.size());
      }
      samples->push_back(std::move(*sample));
    }
    const double taken_s = base::steady_s() - begin_s;
    read_s_ += taken_s;
    busy_s_ += taken_s;
    return [this, samples] {
      const double finish_begin_s = base::steady_s();
      auto fed = decoded(*samples);
      busy_s_ += base::steady_s() - finish_begin_s;
      return fed;
    };
  }
  mesh::Feeds test(int64_t begin, int64_t count) override {
    return {{"image", test_.images.narrow(0, begin, count)},
            {"label", test_.labels.narrow(0, begin, count)}};
  }
  uint32_t train_checksum() const override { return checksum_; }
  uint32_t test_checksum() const override { return test_checksum_; }
  int64_t parts() const override { return part_.parts; }
  std::string order() const override {
    return fmt::format("{} parts, shuffle buffer {}{}", part_.parts, feeding_.shuffle_buffer,
                       feeding_.resample ? ", resampled" : "");
  }
  Preparing preparing() const override { return {0, read_s_, busy_s_, read_bytes_}; }

 private:
  /// A sample that does not decode takes the row of another one of its batch, so that all ranks go
  /// on with equal counts.
  base::Result<Fed> decoded(const std::vector<data::Sample>& samples) {
    ImageRows out(static_cast<int64_t>(samples.size()));
    std::vector<int64_t> missing;
    std::optional<int64_t> good;
    base::Status last;
    for (int64_t row = 0; row < out.labels.size(0); ++row) {
      const auto status = out.decode(samples[static_cast<size_t>(row)], row);
      if (!status && !feeding_.skip_corrupt) return base::failure(status.error());
      if (status) {
        good = row;
      } else {
        missing.push_back(row);
        last = status;
      }
    }
    if (!missing.empty() && !good) {
      base::Error none = last.error();
      none.message = "no sample of a batch can be used; the last one " + none.message;
      none.remedy = "mend the shard";
      return base::failure(none);
    }
    for (const int64_t row : missing) out.copy_row(*good, row);
    return Fed{out.feeds(), static_cast<int64_t>(missing.size())};
  }

  data::ShardStream stream_;
  uint32_t checksum_, test_checksum_;
  ImageRows test_;
  FedPart part_;
  Feeding feeding_;
  int64_t epoch_ = -1, position_ = -1;
  std::atomic<int64_t> read_bytes_ = 0;
  std::atomic<double> read_s_ = 0, busy_s_ = 0;
};

base::Result<ImageRows> read_test(const data::ShardSet& set, int64_t limit) {
  const int64_t all = set.samples();
  ImageRows out(limit > 0 ? std::min(limit, all) : all);
  int64_t row = 0;
  const auto sink = [&](const data::Sample& sample) -> base::Status {
    return row < out.labels.size(0) ? out.decode(sample, row++) : base::Status{};
  };
  if (auto s = data::each_in_shards(set, sink); !s) return base::failure(s.error());
  return out;
}

}  // namespace

base::Result<std::unique_ptr<Batches>> shard_images(const TrainOptions& options, FedPart part) {
  if (options.feeding.test_data.empty()) {
    return base::usage_error("--data names shards, so --test-data must name those of the test set");
  }
  auto set = data::open_shards(options.data_dir);
  if (!set) return base::failure(set.error());
  auto test_set = data::open_shards(options.feeding.test_data);
  if (!test_set) return base::failure(test_set.error());
  if (auto s = data::check_counts(*test_set); !s) return base::failure(s.error());
  auto test = read_test(*test_set, options.test_limit);
  if (!test) return base::failure(test.error());
  if (auto s = data::sum_contents(*set); !s) return base::failure(s.error());
  const uint32_t checksum = set->checksum();
  auto stream = data::ShardStream::create(
      std::move(*set), {options.seed, true, options.feeding.shuffle_buffer, part.part, part.parts,
                        options.train_limit, options.feeding.resample});
  if (!stream) return base::failure(stream.error());
  return std::make_unique<ShardImages>(std::move(*stream), checksum, test_set->checksum(),
                                       std::move(*test), part, options.feeding);
}

}  // namespace goban::train::trainer

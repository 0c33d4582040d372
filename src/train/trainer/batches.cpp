#include "train/trainer/batches.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <fstream>
#include <numeric>
#include <sstream>

#include "base/random.hpp"
#include "train/data/sample.hpp"
#include "train/data/shard_list.hpp"
#include "train/data/token_file.hpp"
#include "train/mesh/tensor_checksum.hpp"
#include "train/trainer/load_ahead.hpp"
#include "train/trainer/shard_images.hpp"

namespace goban::train::trainer {
namespace {

constexpr int64_t kPixels = 784;
constexpr double kMaskedShare = 0.15;

int64_t limited(int64_t size, int64_t limit) { return limit > 0 ? std::min(size, limit) : size; }

at::Tensor bytes_tensor(const data::IdxArray& array) {
  // from_blob takes mutable memory; clone does not modify it.
  return at::from_blob(const_cast<uint8_t*>(array.bytes.data()),
                       {static_cast<int64_t>(array.bytes.size())}, at::kByte)
      .clone();
}

/// Caches the order of the last epoch requested. Gives out one part of each batch.
class Order {
 public:
  Order(int64_t size, uint64_t seed, FedPart part) : size_(size), seed_(seed), part_(part) {}
  int64_t parts() const { return part_.parts; }
  at::Tensor indices(int64_t epoch, int64_t begin, int64_t count) {
    if (epoch != epoch_) {
      order_ = epoch_order(size_, seed_, epoch);
      epoch_ = epoch;
    }
    const int64_t rows = count / part_.parts;
    return at::tensor(at::ArrayRef<int64_t>(order_.data() + begin + part_.part * rows,
                                            static_cast<size_t>(rows)));
  }

 private:
  int64_t size_;
  uint64_t seed_;
  FedPart part_;
  int64_t epoch_ = -1;
  std::vector<int64_t> order_;
};

class ImageBatches final : public Batches {
 public:
  ImageBatches(const data::ImageSet& set, uint64_t seed, int64_t train_limit, int64_t test_limit,
               FedPart part)
      : train_images_(bytes_tensor(set.train_images).view({-1, kPixels})),
        train_labels_(bytes_tensor(set.train_labels)),
        test_images_(bytes_tensor(set.test_images).view({-1, kPixels})),
        test_labels_(bytes_tensor(set.test_labels)),
        train_size_(limited(train_labels_.size(0), train_limit)),
        test_size_(limited(test_labels_.size(0), test_limit)),
        order_(train_size_, seed, part) {}

  int64_t train_size() const override { return train_size_; }
  int64_t test_size() const override { return test_size_; }
  base::Result<Finish> take(int64_t epoch, int64_t begin, int64_t count) override {
    return [this, chosen = order_.indices(epoch, begin, count)]() -> base::Result<Fed> {
      return Fed{feeds(at::index_select(train_images_, 0, chosen),
                       at::index_select(train_labels_, 0, chosen))};
    };
  }
  int64_t parts() const override { return order_.parts(); }
  mesh::Feeds test(int64_t begin, int64_t count) override {
    return feeds(test_images_.narrow(0, begin, count), test_labels_.narrow(0, begin, count));
  }
  uint32_t train_checksum() const override {
    return mesh::checksum_of(train_images_.narrow(0, 0, train_size_)) ^
           mesh::checksum_of(train_labels_.narrow(0, 0, train_size_));
  }
  uint32_t test_checksum() const override {
    return mesh::checksum_of(test_images_.narrow(0, 0, test_size_)) ^
           mesh::checksum_of(test_labels_.narrow(0, 0, test_size_));
  }

 private:
  static mesh::Feeds feeds(const at::Tensor& images, const at::Tensor& labels) {
    return {{"image", images.to(at::kFloat).mul_(1.0 / 255)}, {"label", labels.to(at::kLong)}};
  }
  at::Tensor train_images_, train_labels_, test_images_, test_labels_;
  int64_t train_size_, test_size_;
  Order order_;
};

class TextBatches final : public Batches {
 public:
  /// Without `test_tokens`, the last tenth of the windows is the test set.
  TextBatches(const std::vector<int64_t>& tokens, const std::vector<int64_t>& test_tokens,
              int64_t length, bool causal, const TrainOptions& options, FedPart part)
      : length_(length), causal_(causal), seed_(options.seed), order_(0, options.seed, part) {
    tokens_ = at::tensor(tokens);
    // A window has one more token, the last target.
    const int64_t windows = (tokens_.size(0) - 1) / length;
    test_first_ = test_tokens.empty() ? windows - windows / 10 : 0;
    test_tokens_ = test_tokens.empty() ? tokens_ : at::tensor(test_tokens);
    train_size_ = limited(test_tokens.empty() ? test_first_ : windows, options.train_limit);
    test_size_ = limited((test_tokens_.size(0) - 1) / length - test_first_, options.test_limit);
    order_ = Order(train_size_, seed_, part);
  }
  int64_t train_size() const override { return train_size_; }
  int64_t test_size() const override { return test_size_; }
  base::Result<Finish> take(int64_t epoch, int64_t begin, int64_t count) override {
    return [this, chosen = order_.indices(epoch, begin, count), epoch]() -> base::Result<Fed> {
      return Fed{windows(tokens_, chosen, static_cast<uint64_t>(epoch) + 1)};
    };
  }
  int64_t parts() const override { return order_.parts(); }
  mesh::Feeds test(int64_t begin, int64_t count) override {
    std::vector<int64_t> chosen(static_cast<size_t>(count));
    std::iota(chosen.begin(), chosen.end(), test_first_ + begin);
    return windows(test_tokens_, at::tensor(chosen), 0);
  }
  uint32_t train_checksum() const override { return checksum(tokens_, 0, train_size_); }
  uint32_t test_checksum() const override {
    return checksum(test_tokens_, test_first_, test_size_);
  }

 private:
  uint32_t checksum(const at::Tensor& tokens, int64_t first, int64_t count) const {
    return mesh::checksum_of(tokens.narrow(0, first * length_, count * length_ + 1));
  }
  mesh::Feeds windows(const at::Tensor& from, const at::Tensor& chosen, uint64_t epoch) const {
    const int64_t count = chosen.size(0);
    at::Tensor in = at::empty({count, length_}, at::kLong), out = at::empty_like(in);
    at::Tensor weight = at::ones({count, length_});
    for (int64_t i = 0; i < count; ++i) {
      const int64_t window = chosen.data_ptr<int64_t>()[i];
      const int64_t begin = window * length_;
      in.select(0, i).copy_(from.narrow(0, begin, length_));
      out.select(0, i).copy_(from.narrow(0, causal_ ? begin + 1 : begin, length_));
      if (!causal_)
        mask(window, epoch, in.data_ptr<int64_t>() + i * length_,
             weight.data_ptr<float>() + i * length_);
    }
    mesh::Feeds feeds = {{"tokens", in}, {"targets", out}};
    if (!causal_) feeds["weight"] = weight;
    return feeds;
  }
  void mask(int64_t window, uint64_t epoch, int64_t* tokens, float* weight) const {
    base::Random random(seed_ ^ (epoch << 40) ^ static_cast<uint64_t>(window));
    for (int64_t j = 0; j < length_; ++j) {
      const bool hidden = random.uniform() < kMaskedShare;
      weight[j] = hidden ? 1 : 0;
      if (hidden) tokens[j] = 0;
    }
  }
  int64_t length_;
  bool causal_;
  uint64_t seed_;
  Order order_;
  at::Tensor tokens_, test_tokens_;
  int64_t test_first_ = 0, train_size_ = 0, test_size_ = 0;
};

}  // namespace

double predictions_of(const mesh::Feeds& feeds) {
  if (const auto weight = feeds.find("weight"); weight != feeds.end()) {
    return weight->second.sum().item<double>();
  }
  const auto targets = feeds.find("targets");
  return static_cast<double>(
      (targets != feeds.end() ? targets : feeds.find("label"))->second.numel());
}

std::vector<int64_t> epoch_order(int64_t n, uint64_t seed, int64_t epoch) {
  base::Random mix(seed);
  base::Random random(mix() + static_cast<uint64_t>(epoch));
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

base::Result<mesh::Feeds> Batches::train(int64_t epoch, int64_t begin, int64_t count) {
  const auto finish = take(epoch, begin, count);
  if (!finish) return base::failure(finish.error());
  auto fed = (*finish)();
  if (!fed) return base::failure(fed.error());
  return given_out(std::move(*fed));
}

FedPart fed_part(const mesh::Plan& plan) {
  const int axis = plan.rules.axis_of("batch", plan.mesh);
  if (axis == mesh::kWhole) return {};
  const auto number = static_cast<size_t>(axis);
  return {plan.mesh.coordinate(plan.rank, number), plan.mesh.axes()[number].size};
}

std::unique_ptr<Batches> image_batches(const data::ImageSet& set, uint64_t seed,
                                       int64_t train_limit, int64_t test_limit, FedPart part) {
  return std::make_unique<ImageBatches>(set, seed, train_limit, test_limit, part);
}

base::Result<std::unique_ptr<Batches>> text_batches(const std::vector<std::string>& files,
                                                    int64_t length, bool causal, uint64_t seed,
                                                    int64_t train_limit, int64_t test_limit,
                                                    FedPart part) {
  std::vector<int64_t> tokens;
  for (const std::string& path : files) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return base::failed(fmt::format("cannot read '{}'", path));
    std::ostringstream all;
    all << in.rdbuf();
    for (const char c : all.str()) tokens.push_back(static_cast<unsigned char>(c));
  }
  if (static_cast<int64_t>(tokens.size()) < 20 * length) {
    return base::bad_data(
        {}, fmt::format("{} bytes of text are too few for windows of {}", tokens.size(), length));
  }
  TrainOptions options;
  options.seed = seed;
  options.train_limit = train_limit;
  options.test_limit = test_limit;
  return std::make_unique<TextBatches>(tokens, std::vector<int64_t>{}, length, causal, options,
                                       part);
}

base::Result<std::unique_ptr<Batches>> token_batches(const TrainOptions& options, FedPart part) {
  const auto read = [&](const std::string& list) -> base::Result<std::vector<int64_t>> {
    const auto paths = data::expand_shards(list);
    if (!paths) return base::failure(paths.error());
    std::vector<int64_t> all;
    for (const std::string& path : *paths) {
      const auto tokens =
          data::read_tokens(path, options.feeding.token_bytes, options.transformer.vocab);
      if (!tokens) return base::failure(tokens.error());
      all.insert(all.end(), tokens->begin(), tokens->end());
    }
    const int64_t length = options.transformer.length;
    if (static_cast<int64_t>(all.size()) < 20 * length) {
      return base::bad_data({list, 0, 0, ""}, fmt::format("{} tokens are too few for windows of {}",
                                                          all.size(), length));
    }
    return all;
  };
  const auto tokens = read(options.data_dir);
  if (!tokens) return base::failure(tokens.error());
  const auto test =
      options.feeding.test_data.empty() ? std::vector<int64_t>{} : read(options.feeding.test_data);
  if (!test) return base::failure(test.error());
  return std::make_unique<TextBatches>(*tokens, *test, options.transformer.length,
                                       options.model != "masked", options, part);
}

bool names_shards(const std::string& data) {
  return data::shard_format(data) || data.find("::") != std::string::npos ||
         data.find('{') != std::string::npos || data.ends_with(".json") || data.ends_with(".bin");
}

namespace {

base::Result<std::unique_ptr<Batches>> open_source(const TrainOptions& options, FedPart part) {
  if (options.task == "lm") {
    // The number of masked tokens differs between parts, so every rank counts those of the batch.
    if (options.model == "masked") part = {};
    if (!options.data_dir.empty() && names_shards(options.data_dir)) {
      return token_batches(options, part);
    }
    return text_batches(options.texts, options.transformer.length, options.model != "masked",
                        options.seed, options.train_limit, options.test_limit, part);
  }
  if (names_shards(options.data_dir)) return shard_images(options, part);
  auto set = data::read_image_set(options.data_dir + "/" + options.task);
  if (!set) {
    base::Error error = set.error();
    if (error.remedy.empty()) {
      error.remedy =
          fmt::format("goban-train data fetch {} --to {}", options.task, options.data_dir);
    }
    return base::failure(error);
  }
  return image_batches(*set, options.seed, options.train_limit, options.test_limit, part);
}

}  // namespace

base::Result<std::unique_ptr<Batches>> open_batches(const TrainOptions& options, FedPart part,
                                                    c10::Device device) {
  auto source = open_source(options, part);
  if (!source) return source;
  const bool shards = !options.data_dir.empty() && names_shards(options.data_dir);
  const bool worth_it = shards || device.is_cuda();
  if (options.feeding.threads == 0 || (options.feeding.threads == kAutoThreads && !worth_it)) {
    return source;
  }
  return load_ahead(std::move(*source), options, device);
}

}  // namespace goban::train::trainer

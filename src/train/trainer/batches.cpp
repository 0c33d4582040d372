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

/// Caches the order of the last epoch requested.
class Order {
 public:
  Order(int64_t size, uint64_t seed) : size_(size), seed_(seed) {}
  at::Tensor indices(int64_t epoch, int64_t begin, int64_t count) {
    if (epoch != epoch_) {
      order_ = epoch_order(size_, seed_, epoch);
      epoch_ = epoch;
    }
    return at::tensor(at::ArrayRef<int64_t>(order_.data() + begin, static_cast<size_t>(count)));
  }

 private:
  int64_t size_;
  uint64_t seed_;
  int64_t epoch_ = -1;
  std::vector<int64_t> order_;
};

class ImageBatches final : public Batches {
 public:
  ImageBatches(const data::ImageSet& set, uint64_t seed, int64_t train_limit, int64_t test_limit)
      : train_images_(bytes_tensor(set.train_images).view({-1, kPixels})),
        train_labels_(bytes_tensor(set.train_labels)),
        test_images_(bytes_tensor(set.test_images).view({-1, kPixels})),
        test_labels_(bytes_tensor(set.test_labels)),
        train_size_(limited(train_labels_.size(0), train_limit)),
        test_size_(limited(test_labels_.size(0), test_limit)),
        order_(train_size_, seed) {}

  int64_t train_size() const override { return train_size_; }
  int64_t test_size() const override { return test_size_; }
  mesh::Feeds train(int64_t epoch, int64_t begin, int64_t count) override {
    const at::Tensor chosen = order_.indices(epoch, begin, count);
    return feeds(at::index_select(train_images_, 0, chosen),
                 at::index_select(train_labels_, 0, chosen));
  }
  mesh::Feeds test(int64_t begin, int64_t count) override {
    return feeds(test_images_.narrow(0, begin, count), test_labels_.narrow(0, begin, count));
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
  TextBatches(const std::string& text, int64_t length, bool causal, uint64_t seed,
              int64_t train_limit, int64_t test_limit)
      : length_(length), causal_(causal), seed_(seed), order_(0, seed) {
    std::vector<int64_t> tokens;
    for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
    tokens_ = at::tensor(tokens);
    // A window has one more token, the last target.
    const int64_t windows = (tokens_.size(0) - 1) / length;
    test_first_ = windows - windows / 10;
    train_size_ = limited(test_first_, train_limit);
    test_size_ = limited(windows - test_first_, test_limit);
    order_ = Order(train_size_, seed);
  }
  int64_t train_size() const override { return train_size_; }
  int64_t test_size() const override { return test_size_; }
  mesh::Feeds train(int64_t epoch, int64_t begin, int64_t count) override {
    return windows(order_.indices(epoch, begin, count), static_cast<uint64_t>(epoch) + 1);
  }
  mesh::Feeds test(int64_t begin, int64_t count) override {
    std::vector<int64_t> chosen(static_cast<size_t>(count));
    std::iota(chosen.begin(), chosen.end(), test_first_ + begin);
    return windows(at::tensor(chosen), 0);
  }

 private:
  mesh::Feeds windows(const at::Tensor& chosen, uint64_t epoch) const {
    const int64_t count = chosen.size(0);
    at::Tensor in = at::empty({count, length_}, at::kLong), out = at::empty_like(in);
    at::Tensor weight = at::ones({count, length_});
    for (int64_t i = 0; i < count; ++i) {
      const int64_t window = chosen.data_ptr<int64_t>()[i];
      const int64_t begin = window * length_;
      in.select(0, i).copy_(tokens_.narrow(0, begin, length_));
      out.select(0, i).copy_(tokens_.narrow(0, causal_ ? begin + 1 : begin, length_));
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
  at::Tensor tokens_;
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

std::unique_ptr<Batches> image_batches(const data::ImageSet& set, uint64_t seed,
                                       int64_t train_limit, int64_t test_limit) {
  return std::make_unique<ImageBatches>(set, seed, train_limit, test_limit);
}

base::Result<std::unique_ptr<Batches>> text_batches(const std::vector<std::string>& files,
                                                    int64_t length, bool causal, uint64_t seed,
                                                    int64_t train_limit, int64_t test_limit) {
  std::string text;
  for (const std::string& path : files) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return base::failed(fmt::format("cannot read '{}'", path));
    std::ostringstream all;
    all << in.rdbuf();
    text += all.str();
  }
  if (static_cast<int64_t>(text.size()) < 20 * length) {
    return base::bad_data(
        {}, fmt::format("{} bytes of text are too few for windows of {}", text.size(), length));
  }
  return std::make_unique<TextBatches>(text, length, causal, seed, train_limit, test_limit);
}

base::Result<std::unique_ptr<Batches>> open_batches(const TrainOptions& options) {
  if (options.task == "lm") {
    return text_batches(options.texts, options.transformer.length, options.model != "masked",
                        options.seed, options.train_limit, options.test_limit);
  }
  auto set = data::read_image_set(options.data_dir + "/" + options.task);
  if (!set) {
    base::Error error = set.error();
    if (error.remedy.empty()) {
      error.remedy =
          fmt::format("goban-train data fetch {} --to {}", options.task, options.data_dir);
    }
    return base::failure(error);
  }
  return image_batches(*set, options.seed, options.train_limit, options.test_limit);
}

}  // namespace goban::train::trainer

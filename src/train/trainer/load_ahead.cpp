#include "train/trainer/load_ahead.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "base/clock.hpp"
#include "train/data/ordered_loader.hpp"
#include "train/mesh/send_ahead.hpp"

namespace goban::train::trainer {
namespace {

constexpr size_t kAhead = 4;           // items that wait, besides two for each thread
constexpr int64_t kLookInterval = 32;  // requests between looks at the waiting time
constexpr double kGoal = 0.01;         // share of the time that a run may wait
constexpr double kGain = 0.9;          // a thread more must shorten the waiting to this share

class LoadedBatches final : public Batches {
 public:
  LoadedBatches(std::unique_ptr<Batches> source, const TrainOptions& options, c10::Device device)
      : source_(std::move(source)),
        options_(options),
        device_(device),
        grows_(options.feeding.threads == kAutoThreads),
        threads_(grows_ ? 1 : static_cast<size_t>(options.feeding.threads)),
        most_threads_(std::max<size_t>(
            1, std::thread::hardware_concurrency() / static_cast<size_t>(source_->parts()))) {}

  int64_t train_size() const override { return source_->train_size(); }
  int64_t test_size() const override { return source_->test_size(); }
  base::Result<Finish> take(int64_t epoch, int64_t begin, int64_t count) override {
    return source_->take(epoch, begin, count);
  }
  base::Result<mesh::Feeds> train(int64_t epoch, int64_t begin, int64_t count) override {
    const FeedRequest wanted{epoch, begin, count};
    if (!loader_ || next_ != wanted) start(wanted);
    next_ = request_after(wanted, options_, train_size());
    auto fed = loader_->next();
    if (!fed) return base::failure(fed.error());
    if (grows_) look();
    mesh::Feeds feeds = given_out(std::move(**fed));  // the sequence has no end
    for (const auto& [name, tensor] : feeds) mesh::begin_use(tensor);
    return feeds;
  }
  mesh::Feeds test(int64_t begin, int64_t count) override { return source_->test(begin, count); }
  uint32_t train_checksum() const override { return source_->train_checksum(); }
  uint32_t test_checksum() const override { return source_->test_checksum(); }
  int64_t parts() const override { return source_->parts(); }
  std::string order() const override { return source_->order(); }
  Preparing preparing() const override {
    return {threads_, read_s_, busy_s_, source_->preparing().read_bytes, sent_s_, sent_bytes_};
  }
  std::optional<double> waited_s() const override {
    return ended_waited_s_ + (loader_ ? loader_->waited_s() : 0);
  }

 private:
  using Loader = data::OrderedLoader<Fed>;

  static void add_time(std::atomic<double>& total_s, double begin_s) {
    total_s += base::steady_s() - begin_s;
  }

  void start(FeedRequest first) {
    ended_waited_s_ = *waited_s();
    loader_.reset();  // its threads use the source
    const auto take_next = [this, at = first]() mutable -> base::Result<std::optional<Finish>> {
      const double begin_s = base::steady_s();
      auto finish = source_->take(at.epoch, at.begin, at.count);
      if (!finish) return base::failure(finish.error());
      at = request_after(at, options_, train_size());
      add_time(read_s_, begin_s);
      add_time(busy_s_, begin_s);
      return std::optional<Finish>([this, work = std::move(*finish)] {
        const double finish_begin_s = base::steady_s();
        auto fed = work();
        if (fed && !device_.is_cpu()) {
          const double send_begin_s = base::steady_s();
          for (auto& [name, tensor] : fed->feeds) {
            sent_bytes_ += static_cast<int64_t>(tensor.nbytes());
            tensor = mesh::sent_ahead(tensor, device_);
          }
          add_time(sent_s_, send_begin_s);
        }
        add_time(busy_s_, finish_begin_s);
        return fed;
      });
    };
    loader_ = std::make_unique<Loader>(take_next, threads_, kAhead + 2 * most_threads_);
    waited_before_s_ = 0;
    looked_s_ = base::steady_s();
    asked_ = 0;
  }

  /// Adds a thread while that helps.
  void look() {
    if (++asked_ % kLookInterval != 0) return;
    const double now_s = base::steady_s();
    const double share = (loader_->waited_s() - waited_before_s_) / (now_s - looked_s_);
    waited_before_s_ = loader_->waited_s();
    looked_s_ = now_s;
    if (share <= kGoal || threads_ >= most_threads_) return;
    if (threads_ > 1 && share > kGain * last_share_) {
      grows_ = false;  // the last thread did not help
      return;
    }
    last_share_ = share;
    loader_->add_thread();
    ++threads_;
  }

  std::unique_ptr<Batches> source_;
  TrainOptions options_;
  c10::Device device_;
  bool grows_;
  size_t threads_, most_threads_;
  FeedRequest next_;
  double ended_waited_s_ = 0;  ///< of earlier loaders
  double waited_before_s_ = 0, looked_s_ = 0, last_share_ = 1;
  int64_t asked_ = 0;
  std::atomic<double> read_s_ = 0, busy_s_ = 0, sent_s_ = 0;
  std::atomic<int64_t> sent_bytes_ = 0;
  std::unique_ptr<Loader> loader_;  // ends before the source
};

}  // namespace

std::unique_ptr<Batches> load_ahead(std::unique_ptr<Batches> source, const TrainOptions& options,
                                    c10::Device device) {
  return std::make_unique<LoadedBatches>(std::move(source), options, device);
}

FeedRequest request_after(const FeedRequest& at, const TrainOptions& options, int64_t size) {
  const int64_t whole = size / options.batch_size * options.batch_size;
  const int64_t used = options.last_batch == LastBatch::Keep ? size : whole;
  const auto micro_batch = [&](int64_t batch) {
    return batch % options.micro_batches == 0 ? batch / options.micro_batches : batch;
  };
  FeedRequest out = at;
  out.begin = at.begin + at.count;
  if (out.begin >= used) out = {at.epoch + 1, 0, 0};
  out.count = out.begin < whole ? micro_batch(options.batch_size) : micro_batch(size - whole);
  return out;
}

}  // namespace goban::train::trainer

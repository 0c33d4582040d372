#include "train/data/shard_stream.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace goban::train::data {
namespace {

/// A seed for one use of one epoch.
uint64_t mixed_seed(uint64_t seed, int64_t epoch, int64_t use) {
  base::Random mix(seed ^ 0x5eed'0f'5a4d5ULL);
  base::Random next(mix() + static_cast<uint64_t>(epoch));
  return base::Random(next() + static_cast<uint64_t>(use))();
}

}  // namespace

ShardStream::ShardStream(ShardSet set, StreamOptions options)
    : set_(std::move(set)), options_(options) {
  share_ = samples_of(set_, options_) / options_.parts;
  seek(0, 0);
}

base::Result<ShardStream> ShardStream::create(ShardSet set, StreamOptions options) {
  const int64_t samples = samples_of(set, options);
  if (samples < options.parts || set.samples() == 0) {
    return base::usage_error(
        fmt::format("the shards have {} samples for {} parts of the batch", samples, options.parts),
        "use fewer ranks, or more data");
  }
  return ShardStream(std::move(set), options);
}

/// Samples of an epoch in all parts.
int64_t ShardStream::samples_of(const ShardSet& set, const StreamOptions& options) {
  if (options.limit <= 0) return set.samples();
  return options.resample ? options.limit : std::min(set.samples(), options.limit);
}

void ShardStream::choose_shards(int64_t epoch) {
  shard_order_.clear();
  if (options_.resample) {
    // Seeds of parts are those of their sample order and above; -2 and below are free.
    base::Random random(mixed_seed(options_.seed, epoch, -2 - options_.part));
    for (int64_t samples = 0; samples < share_;) {
      shard_order_.push_back(random.below(set_.shards.size()));
      samples += set_.shards[shard_order_.back()].samples;
    }
    return;
  }
  shard_order_.resize(set_.shards.size());
  std::iota(shard_order_.begin(), shard_order_.end(), size_t{0});
  // A limit means the first samples of the set in every epoch.
  const bool limited = options_.limit > 0 && options_.limit < set_.samples();
  if (!options_.shuffle_shards || limited) return;
  base::Random random(mixed_seed(options_.seed, epoch, -1));
  for (size_t i = shard_order_.size(); i > 1; --i) {
    std::swap(shard_order_[i - 1], shard_order_[random.below(i)]);
  }
}

void ShardStream::seek(int64_t epoch, int64_t position) {
  choose_shards(epoch);
  ends_.clear();
  int64_t end = 0;
  for (const size_t shard : shard_order_) ends_.push_back(end += set_.shards[shard].samples);
  order_.emplace(share_, options_.shuffle_buffer, mixed_seed(options_.seed, epoch, options_.part));
  for (int64_t i = 0; i < position && !order_->at_end(); ++i) (void)order_->next();
  kept_ = order_->waiting();
  std::ranges::sort(kept_);
  resumed_ = order_->taken();
  next_ = 0;
  waiting_.clear();
  reader_.reset();
  open_ = SIZE_MAX;
}

base::Result<Sample> ShardStream::next() {
  const int64_t wanted = order_->next();
  if (auto s = read_until(wanted); !s) return base::failure(s.error());
  auto found = waiting_.extract(wanted);
  return std::move(found.mapped());
}

base::Status ShardStream::read_until(int64_t wanted) {
  while (!waiting_.contains(wanted)) {
    const int64_t number = next_++;
    if (number < resumed_ && !std::ranges::binary_search(kept_, number)) continue;
    auto sample = read_at(number);
    if (!sample) return base::failure(sample.error());
    waiting_.emplace(number, std::move(*sample));
  }
  return {};
}

base::Result<Sample> ShardStream::read_at(int64_t number) {
  const int64_t whole = (options_.resample ? 0 : options_.part * share_) + number;
  const auto place = static_cast<size_t>(std::ranges::upper_bound(ends_, whole) - ends_.begin());
  const Shard& shard = set_.shards[shard_order_[place]];
  const int64_t inside = whole - (ends_[place] - shard.samples);
  if (place != open_ || inside < at_) {
    auto reader = open_shard(shard.path);
    if (!reader) return base::failure(reader.error());
    reader_ = std::move(*reader);
    open_ = place;
    at_ = 0;
  }
  base::Result<bool> more = true;
  for (; at_ < inside && more && *more; ++at_) more = reader_->skip();
  Sample out;
  if (more && *more) {
    more = reader_->next(out);
    ++at_;
  }
  if (!more) return base::failure(more.error());
  if (!*more) {
    return base::bad_data({shard.path, 0, 0, ""},
                          fmt::format("has fewer than the {} samples of its index", shard.samples),
                          "write the index again: goban-train data index");
  }
  if (at_ == shard.samples) {
    const auto further = reader_->skip();
    if (!further) return base::failure(further.error());
    if (*further) {
      return base::bad_data({shard.path, 0, 0, ""},
                            fmt::format("has more than the {} samples of its index", shard.samples),
                            "write the index again: goban-train data index");
    }
  }
  return out;
}

}  // namespace goban::train::data

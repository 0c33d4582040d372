// Scalars in TensorBoard's event files: TFRecords (length, masked CRC-32C of the length, bytes,
// masked CRC-32C of the bytes) of tensorflow.Event messages, as written by TensorFlow 1 and 2,
// torch.utils.tensorboard and tensorboardX. Files are untrusted and may grow while they are read.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace goban::base {

struct Scalar {
  double at_s = 0;  ///< wall clock, since 1970
  int64_t step = 0;
  double value = 0;  ///< may be infinite or not a number
};

/// Fills the front of `out` with the bytes from `offset`; returns how many there were, fewer than
/// requested at the end only.
using ReadAt = std::function<size_t(int64_t offset, std::span<char> out)>;
using TakeScalar = std::function<void(std::string_view tag, const Scalar& scalar)>;

struct EventFileLimits {
  int64_t bytes_max = int64_t{32} << 20;  ///< read at most; later records are left out
  /// Longer records (images, histograms, graphs) are passed over without being read.
  uint64_t record_bytes_max = uint64_t{1} << 16;
};

/// What was read of a file.
struct EventFilePart {
  int64_t records = 0;     ///< whole ones, those passed over included
  int64_t bytes_read = 0;  ///< without those passed over
  bool was_cut = false;    ///< the limit of bytes was reached before the end
  std::string problem{};   ///< why reading ended at damage, with the byte; empty: it did not
};

/// Gives all scalars in the order of the file. A record that breaks off is the end, as its writer
/// may be at work. Values that are no scalars are ignored: images, histograms, texts, tensors of
/// any shape but the empty one.
EventFilePart read_scalars(const ReadAt& read_at, const TakeScalar& take,
                           const EventFileLimits& limits = {});

}  // namespace goban::base

// Convolutions in one to three dimensions, whole or by blocks with halo exchange, and pooling.
#include <fmt/format.h>

#include "train/mesh/ops.hpp"

namespace goban::train::mesh {
namespace {

/// Maps a filter's dimensions to an image's: [leading..., spatial..., channels].
struct Spatial {
  Spatial(const char* what, const Tensor& x, const Tensor& filter)
      : image(x.shape()), kernel(filter.shape()), count(kernel.rank() - 2) {
    if (kernel.rank() < 3 || kernel.rank() > 5 || image.rank() < count + 1) {
      throw GraphError(fmt::format(
          "{}: x {} must end in one to three spatial dimensions and channels; the filter {} must "
          "be [sizes..., channels, channels]",
          what, image.text(), kernel.text()));
    }
    if (x.dtype() != filter.dtype()) {
      throw GraphError(fmt::format("{}: x and filter have different types", what));
    }
    first = image.rank() - 1 - count;
  }
  /// `in` is the position of the input channels in the filter.
  void require_channels(const char* what, size_t in) const {
    if (image[image.rank() - 1] == kernel[in]) return;
    throw GraphError(
        fmt::format("{}: the last dimension of x {} must be the filter's '{}' of size {}", what,
                    image.text(), kernel[in].name, kernel[in].size));
  }
  std::vector<int64_t> margins(const char* what, Padding padding) const {
    std::vector<int64_t> out(count, 0);
    for (size_t i = 0; i < count && padding == Padding::Same; ++i) {
      if (kernel[i].size % 2 == 0) {
        throw GraphError(fmt::format("{}: padding 'same' requires filters of odd size", what));
      }
      out[i] = kernel[i].size / 2;
    }
    return out;
  }
  const Shape &image, &kernel;
  size_t count, first = 0;
};

}  // namespace

Tensor halo_exchange(Tensor x, const std::string& blocks_dim, const std::string& block_dim,
                     int64_t halo, bool wrap) {
  const int64_t block = x.shape().dim(block_dim).size;
  if (halo == 0) return x;
  const int64_t complete = halo / block, partial = halo % block;
  std::vector<Tensor> parts;
  if (partial > 0) {
    parts.push_back(
        shift(slice(x, block_dim, block - partial, partial), blocks_dim, complete + 1, wrap));
  }
  for (int64_t i = complete; i >= 1; --i) parts.push_back(shift(x, blocks_dim, i, wrap));
  parts.push_back(x);
  for (int64_t i = 1; i <= complete; ++i) parts.push_back(shift(x, blocks_dim, -i, wrap));
  if (partial > 0) {
    parts.push_back(shift(slice(x, block_dim, 0, partial), blocks_dim, -complete - 1, wrap));
  }
  return concat(parts, block_dim);
}

Tensor conv(Tensor x, Tensor filter, Padding padding, int64_t stride) {
  const Spatial at("conv", x, filter);
  at.require_channels("conv", at.count);
  Attributes attributes;
  attributes.stride = stride;
  attributes.pads = at.margins("conv", padding);
  std::vector<Dim> dims = at.image.dims();
  for (size_t i = 0; i < at.count; ++i) {
    Dim& dim = dims[at.first + i];
    const int64_t room = dim.size + 2 * attributes.pads[i] - at.kernel[i].size;
    if (room < 0) {
      throw GraphError(
          fmt::format("conv: filter size {} exceeds '{}'", at.kernel[i].size, dim.name));
    }
    dim.size = room / stride + 1;
  }
  dims.back() = at.kernel[at.count + 1];
  return x.graph().add(Op::Conv, "conv", {x, filter}, Shape(dims), x.dtype(), attributes);
}

Tensor conv_transpose(Tensor x, Tensor filter, Padding padding, int64_t stride) {
  const Spatial at("conv_transpose", x, filter);
  at.require_channels("conv_transpose", at.count + 1);
  Attributes attributes;
  attributes.stride = stride;
  attributes.pads = at.margins("conv_transpose", padding);
  std::vector<Dim> dims = at.image.dims();
  for (size_t i = 0; i < at.count; ++i) {
    int64_t& size = dims[at.first + i].size;
    size = padding == Padding::Same ? size * stride : (size - 1) * stride + at.kernel[i].size;
  }
  dims.back() = at.kernel[at.count];
  return x.graph().add(Op::ConvInputGrad, "conv_transpose", {x, filter}, Shape(dims), x.dtype(),
                       attributes);
}

namespace {

/// Two dimensions: the blocks of one device are convolved as one image; margins come from other
/// devices only.
Tensor image_from_blocks(Tensor x, Tensor filter) {
  const Spatial at("conv_with_blocks", x, filter);
  at.require_channels("conv_with_blocks", at.count);
  Attributes attributes;
  attributes.pads = at.margins("conv_with_blocks", Padding::Same);
  std::vector<Dim> dims = at.image.dims();
  dims.back() = at.kernel[at.count + 1];
  const Tensor halo = x.graph().add(Op::Halo, "halo", {x}, x.shape(), x.dtype(), attributes);
  return x.graph().add(Op::BlockConv, "block_conv", {halo, filter}, Shape(dims), x.dtype(),
                       attributes);
}

}  // namespace

Tensor conv_with_blocks(Tensor x, Tensor filter) {
  const Shape image = x.shape(), kernel = filter.shape();
  const size_t count = Spatial("conv_with_blocks", x, filter).count;
  if (image.rank() < 2 * count + 1) {
    throw GraphError(
        fmt::format("conv_with_blocks: x {} must have {} block dimensions, {} "
                    "dimensions within a block, and channels",
                    image.text(), count, count));
  }
  const size_t blocks = image.rank() - 1 - 2 * count;
  if (count == 2) return image_from_blocks(x, filter);
  for (size_t i = 0; i < count; ++i) {
    if (kernel[i].size % 2 == 0) {
      throw GraphError("conv_with_blocks: filters must have odd sizes");
    }
    x = halo_exchange(x, image[blocks + i].name, image[blocks + count + i].name,
                      kernel[i].size / 2);
  }
  return conv(x, filter, Padding::Valid);
}

Tensor pool(Tensor x, const std::string& dim, int64_t size, bool maximum) {
  const Dim whole = x.shape().dim(dim);
  if (size < 1 || whole.size % size != 0) {
    throw GraphError(
        fmt::format("pool: windows of {} do not divide '{}' of size {}", size, dim, whole.size));
  }
  std::vector<Dim> windows, pooled;
  for (const Dim& each : x.shape().dims()) {
    const bool along = each.name == dim;
    windows.push_back(along ? Dim{dim, whole.size / size} : each);
    pooled.push_back(windows.back());
    if (along) windows.push_back({dim + "_window", size});
  }
  x = reshape(x, Shape(windows));
  return maximum ? reduce_max(x, Shape(pooled)) : reduce_mean(x, Shape(pooled));
}

Tensor pool(Tensor x, const std::vector<Dim>& windows, bool maximum) {
  for (const Dim& window : windows) x = pool(x, window.name, window.size, maximum);
  return x;
}

}  // namespace goban::train::mesh

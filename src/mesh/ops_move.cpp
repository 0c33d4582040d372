#include <fmt/format.h>

#include "mesh/ops.hpp"

namespace goban::mesh {

Tensor reshape(Tensor x, const Shape& shape) {
  if (shape.size() != x.shape().size()) {
    throw GraphError(fmt::format("reshape: {} has {} elements, {} has {}", x.shape().text(),
                                 x.shape().size(), shape.text(), shape.size()));
  }
  if (shape == x.shape()) return x;
  return x.graph().add(Op::Reshape, "reshape", {x}, shape, x.dtype());
}

Tensor rename(Tensor x, const std::string& from, const std::string& to) {
  return reshape(x, x.shape().replaced(from, {to, x.shape().dim(from).size}));
}

Tensor transpose(Tensor x, const Shape& order) {
  if (order.rank() != x.shape().rank() || x.shape().united(order).rank() != order.rank()) {
    throw GraphError(
        fmt::format("transpose: {} is no order of {}", order.text(), x.shape().text()));
  }
  if (order == x.shape()) return x;
  return x.graph().add(Op::Transpose, "transpose", {x}, order, x.dtype());
}

Tensor slice(Tensor x, const std::string& dim, int64_t begin, int64_t size) {
  const int64_t whole = x.shape().dim(dim).size;
  if (begin < 0 || size < 1 || begin + size > whole) {
    throw GraphError(fmt::format("slice: [{}, {}) is outside of '{}', which has {}", begin,
                                 begin + size, dim, whole));
  }
  if (size == whole) return x;
  Attributes attributes;
  attributes.dim = dim;
  attributes.begin = begin;
  return x.graph().add(Op::Slice, "slice", {x}, x.shape().replaced(dim, {dim, size}), x.dtype(),
                       attributes);
}

Tensor pad(Tensor x, const std::string& dim, int64_t before, int64_t after) {
  if (before < 0 || after < 0) throw GraphError("pad: negative size");
  if (before + after == 0) return x;
  Attributes attributes;
  attributes.dim = dim;
  attributes.begin = before;
  attributes.count = after;
  const int64_t size = x.shape().dim(dim).size + before + after;
  return x.graph().add(Op::Pad, "pad", {x}, x.shape().replaced(dim, {dim, size}), x.dtype(),
                       attributes);
}

Tensor concat(const std::vector<Tensor>& parts, const std::string& dim) {
  if (parts.empty()) throw GraphError("concat: no parts");
  if (parts.size() == 1) return parts[0];
  int64_t size = 0;
  for (const Tensor& part : parts) {
    size += part.shape().dim(dim).size;
    if (part.shape().replaced(dim, {dim, 1}) != parts[0].shape().replaced(dim, {dim, 1}) ||
        part.dtype() != parts[0].dtype()) {
      throw GraphError(fmt::format("concat along '{}': {} does not fit {}", dim,
                                   part.shape().text(), parts[0].shape().text()));
    }
  }
  Attributes attributes;
  attributes.dim = dim;
  return parts[0].graph().add(Op::Concat, "concat", parts,
                              parts[0].shape().replaced(dim, {dim, size}), parts[0].dtype(),
                              attributes);
}

std::vector<Tensor> split(Tensor x, const std::string& dim, int64_t parts) {
  const int64_t size = x.shape().dim(dim).size;
  if (parts < 1 || size % parts != 0) {
    throw GraphError(fmt::format("split: '{}' of {} into {} parts", dim, size, parts));
  }
  std::vector<Tensor> out;
  for (int64_t i = 0; i < parts; ++i) out.push_back(slice(x, dim, i * size / parts, size / parts));
  return out;
}

Tensor stack(const std::vector<Tensor>& parts, const std::string& dim) {
  std::vector<Tensor> raised;
  for (const Tensor& part : parts) {
    std::vector<Dim> dims = {{dim, 1}};
    dims.insert(dims.end(), part.shape().dims().begin(), part.shape().dims().end());
    raised.push_back(reshape(part, Shape(dims)));
  }
  return concat(raised, dim);
}

Tensor shift(Tensor x, const std::string& dim, int64_t offset, bool wrap) {
  const int64_t size = x.shape().dim(dim).size;
  if (wrap) offset = ((offset % size) + size) % size;
  if (offset == 0) return x;
  if (offset >= size || -offset >= size) return x * 0.0;
  Attributes attributes;
  attributes.dim = dim;
  attributes.count = offset;
  attributes.wrap = wrap;
  return x.graph().add(Op::Shift, "shift", {x}, x.shape(), x.dtype(), attributes);
}

Tensor halo_exchange(Tensor x, const std::string& blocks_dim, const std::string& block_dim,
                     int64_t halo) {
  const int64_t block = x.shape().dim(block_dim).size;
  if (halo == 0) return x;
  const int64_t complete = halo / block, partial = halo % block;
  std::vector<Tensor> parts;
  if (partial > 0) {
    parts.push_back(
        shift(slice(x, block_dim, block - partial, partial), blocks_dim, complete + 1, false));
  }
  for (int64_t i = complete; i >= 1; --i) parts.push_back(shift(x, blocks_dim, i, false));
  parts.push_back(x);
  for (int64_t i = 1; i <= complete; ++i) parts.push_back(shift(x, blocks_dim, -i, false));
  if (partial > 0) {
    parts.push_back(shift(slice(x, block_dim, 0, partial), blocks_dim, -complete - 1, false));
  }
  return concat(parts, block_dim);
}

Tensor conv2d(Tensor x, Tensor filter, Padding padding, int64_t stride) {
  const Shape& image = x.shape();
  const Shape& kernel = filter.shape();
  if (image.rank() < 3 || kernel.rank() != 4 || image[image.rank() - 1] != kernel[2]) {
    throw GraphError(
        fmt::format("conv2d: x {} must end in [height, width, in] and the filter {} "
                    "be [height, width, in, out] with the same 'in'",
                    image.text(), kernel.text()));
  }
  if (x.dtype() != filter.dtype()) throw GraphError("conv2d: x and filter differ in type");
  const Dim& height = image[image.rank() - 3];
  const Dim& width = image[image.rank() - 2];
  Attributes attributes;
  attributes.stride = stride;
  if (padding == Padding::Same) {
    if (kernel[0].size % 2 == 0 || kernel[1].size % 2 == 0) {
      throw GraphError("conv2d: padding 'same' needs filters of odd size");
    }
    attributes.pad_h = kernel[0].size / 2;
    attributes.pad_w = kernel[1].size / 2;
  }
  const auto out_size = [&](const Dim& in, const Dim& f, int64_t margin) {
    const int64_t size = in.size + 2 * margin - f.size;
    if (size < 0) throw GraphError(fmt::format("conv2d: filter {} exceeds '{}'", f.size, in.name));
    return size / stride + 1;
  };
  std::vector<Dim> dims(image.dims().begin(), image.dims().end() - 3);
  dims.push_back({height.name, out_size(height, kernel[0], attributes.pad_h)});
  dims.push_back({width.name, out_size(width, kernel[1], attributes.pad_w)});
  dims.push_back(kernel[3]);
  return x.graph().add(Op::Conv2d, "conv2d", {x, filter}, Shape(dims), x.dtype(), attributes);
}

Tensor conv2d_with_blocks(Tensor x, Tensor filter) {
  const Shape image = x.shape();
  const size_t n = image.rank();
  if (n < 5) throw GraphError("conv2d_with_blocks: x needs [row_block, col_block, rows, cols, ch]");
  const int64_t height = filter.shape()[0].size, width = filter.shape()[1].size;
  if (height % 2 == 0 || width % 2 == 0) {
    throw GraphError("conv2d_with_blocks: filters must have odd sizes");
  }
  x = halo_exchange(x, image[n - 5].name, image[n - 3].name, height / 2);
  x = halo_exchange(x, image[n - 4].name, image[n - 2].name, width / 2);
  return conv2d(x, filter, Padding::Valid);
}

Tensor pool(Tensor x, const std::string& dim, int64_t size, bool maximum) {
  const Dim whole = x.shape().dim(dim);
  if (size < 1 || whole.size % size != 0) {
    throw GraphError(
        fmt::format("pool: windows of {} do not cover '{}' of {}", size, dim, whole.size));
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

Tensor one_hot(Tensor indices, const Dim& dim, DType dtype) {
  if (indices.dtype() != DType::I64) throw GraphError("one_hot: indices must be int64");
  Attributes attributes;
  attributes.dim = dim.name;
  return indices.graph().add(Op::OneHot, "one_hot", {indices}, indices.shape().plus(dim), dtype,
                             attributes);
}

Tensor gather(Tensor table, Tensor indices, const std::string& dim) {
  if (indices.dtype() != DType::I64) throw GraphError("gather: indices must be int64");
  (void)table.shape().dim(dim);
  std::vector<Dim> dims = indices.shape().dims();
  const Shape rest = table.shape().without({dim});
  dims.insert(dims.end(), rest.dims().begin(), rest.dims().end());
  Attributes attributes;
  attributes.dim = dim;
  return table.graph().add(Op::Gather, "gather", {table, indices}, Shape(dims), table.dtype(),
                           attributes);
}

TopK top_k(Tensor x, const std::string& dim, const Dim& k) {
  const Dim along = x.shape().dim(dim);
  if (k.size > along.size) throw GraphError(fmt::format("top_k: {} of {}", k.size, along.size));
  Attributes attributes;
  attributes.dim = dim;
  attributes.count = k.size;
  const Tensor indices = x.graph().add(Op::TopKIndices, "top_k", {x}, x.shape().replaced(dim, k),
                                       DType::I64, attributes);
  const Tensor chosen = one_hot(indices, along, x.dtype());
  return {einsum({x, stop_gradient(chosen)}, indices.shape(), "top_k_values"), indices};
}

Tensor argmax(Tensor x, const std::string& dim) {
  const Dim one{dim + "_top", 1};
  const Tensor indices = top_k(x, dim, one).indices;
  return reshape(indices, indices.shape().without({one.name}));
}

}  // namespace goban::mesh

#include <fmt/format.h>

#include "train/mesh/ops.hpp"

namespace goban::train::mesh {

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
        fmt::format("transpose: {} is not a permutation of {}", order.text(), x.shape().text()));
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
      throw GraphError(fmt::format("concat along '{}': {} does not match {}", dim,
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
    throw GraphError(
        fmt::format("split: '{}' of size {} is not divisible into {} parts", dim, size, parts));
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

std::vector<Tensor> unstack(Tensor x, const std::string& dim) {
  std::vector<Tensor> out;
  for (const Tensor& each : split(x, dim, x.shape().dim(dim).size)) {
    out.push_back(reshape(each, x.shape().without({dim})));
  }
  return out;
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
  if (k.size > along.size)
    throw GraphError(fmt::format("top_k: k is {}, but there are {} elements", k.size, along.size));
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

}  // namespace goban::train::mesh

#include "train/mesh/local_einsum.hpp"

#include <ATen/ops/mul.h>
#include <ATen/ops/sum.h>
#include <algorithm>

#include "train/mesh/matmul.hpp"

namespace goban::train::mesh {
namespace {

bool has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

size_t place(const Labels& labels, int label) {
  return static_cast<size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
}

struct Operand {
  at::Tensor value;
  Labels labels;
};

/// Sums over labels that are no longer needed.
Operand reduced(Operand x, const Labels& needed) {
  std::vector<int64_t> axes;
  Labels kept;
  for (size_t i = 0; i < x.labels.size(); ++i) {
    if (has(needed, x.labels[i])) {
      kept.push_back(x.labels[i]);
    } else {
      axes.push_back(static_cast<int64_t>(i));
    }
  }
  if (axes.empty()) return x;
  return {at::sum(x.value, axes), kept};
}

at::Tensor grouped(const Operand& x, const Labels& first, const Labels& second, const Labels& third,
                   std::vector<int64_t> sizes) {
  std::vector<int64_t> order;
  for (const Labels* group : {&first, &second, &third}) {
    for (const int label : *group) order.push_back(static_cast<int64_t>(place(x.labels, label)));
  }
  if (!std::is_sorted(order.begin(), order.end())) {
    return x.value.permute(order).reshape(sizes);
  }
  return x.value.reshape(sizes);
}

int64_t volume(const Operand& x, const Labels& labels) {
  int64_t product = 1;
  for (const int label : labels) {
    product *= x.value.size(static_cast<int64_t>(place(x.labels, label)));
  }
  return product;
}

/// Product of two operands, keeping the labels in `needed`, in the order of `output`.
Operand multiply(Operand a, Operand b, const Labels& needed, const Labels& output) {
  Labels for_a = needed, for_b = needed;
  for_a.insert(for_a.end(), b.labels.begin(), b.labels.end());
  for_b.insert(for_b.end(), a.labels.begin(), a.labels.end());
  a = reduced(std::move(a), for_a);
  b = reduced(std::move(b), for_b);
  Labels batch, contract, left, right;
  for (const int label : a.labels) {
    if (!has(b.labels, label)) {
      left.push_back(label);
    } else {
      (has(needed, label) ? batch : contract).push_back(label);
    }
  }
  for (const int label : b.labels) {
    if (!has(a.labels, label)) right.push_back(label);
  }
  if (contract.empty()) {
    Labels all;
    for (const int label : output) {
      if (has(a.labels, label) || has(b.labels, label)) all.push_back(label);
    }
    for (const Operand* x : {&a, &b}) {
      for (const int label : x->labels) {
        if (!has(all, label)) all.push_back(label);
      }
    }
    return {at::mul(align(a.value, a.labels, all), align(b.value, b.labels, all)), all};
  }
  // The operand whose labels come first in the output goes first: the result is then contiguous.
  const auto first_place = [&](const Labels& labels) {
    size_t best = output.size();
    for (const int label : labels) best = std::min(best, place(output, label));
    return best;
  };
  if (first_place(right) < first_place(left)) {
    std::swap(a, b);
    std::swap(left, right);
  }
  const int64_t n = volume(a, batch), rows = volume(a, left), inner = volume(a, contract);
  const int64_t columns = volume(b, right);
  at::Tensor product;
  if (n == 1) {
    product = matrix_product(grouped(a, batch, left, contract, {rows, inner}),
                             grouped(b, batch, contract, right, {inner, columns}));
  } else {
    product = matrix_product(grouped(a, batch, left, contract, {n, rows, inner}),
                             grouped(b, batch, contract, right, {n, inner, columns}));
  }
  std::vector<int64_t> sizes;
  Labels labels;
  for (const Labels* group : {&batch, &left}) {
    for (const int label : *group) {
      labels.push_back(label);
      sizes.push_back(a.value.size(static_cast<int64_t>(place(a.labels, label))));
    }
  }
  for (const int label : right) {
    labels.push_back(label);
    sizes.push_back(b.value.size(static_cast<int64_t>(place(b.labels, label))));
  }
  return {product.view(sizes), labels};
}

}  // namespace

at::Tensor align(const at::Tensor& x, const Labels& from, const Labels& to) {
  if (from == to) return x;
  std::vector<int64_t> order;
  std::vector<int64_t> sizes;
  for (const int label : to) {
    if (has(from, label)) order.push_back(static_cast<int64_t>(place(from, label)));
  }
  at::Tensor out = std::is_sorted(order.begin(), order.end()) ? x : x.permute(order);
  for (size_t i = 0; i < to.size(); ++i) {
    if (!has(from, to[i])) out = out.unsqueeze(static_cast<int64_t>(i));
  }
  return out;
}

at::Tensor local_einsum(const std::vector<at::Tensor>& inputs, const std::vector<Labels>& labels,
                        const Labels& output, at::IntArrayRef output_sizes) {
  Operand sum{inputs[0], labels[0]};
  for (size_t i = 1; i < inputs.size(); ++i) {
    Labels needed = output;
    for (size_t j = i + 1; j < inputs.size(); ++j) {
      needed.insert(needed.end(), labels[j].begin(), labels[j].end());
    }
    sum = multiply(std::move(sum), {inputs[i], labels[i]}, needed, output);
  }
  sum = reduced(std::move(sum), output);
  const at::Tensor aligned = align(sum.value, sum.labels, output);
  return aligned.sizes() == output_sizes ? aligned : aligned.expand(output_sizes);
}

}  // namespace goban::train::mesh

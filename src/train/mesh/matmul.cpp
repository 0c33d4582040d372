#include "train/mesh/matmul.hpp"

#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <algorithm>
#include <atomic>
#include <optional>

#ifdef GOBAN_ONEDNN
#include <dnnl.h>
#endif

namespace goban::train::mesh {
namespace {

#ifdef GOBAN_ONEDNN

/// A matrix as BLAS reads it: rows with a stride, or columns with one.
struct Side {
  char transposed;
  int64_t stride;
};

std::optional<Side> side_of(int64_t rows, int64_t columns, int64_t row_stride,
                            int64_t column_stride) {
  if ((column_stride == 1 || columns == 1) && (row_stride >= columns || rows == 1)) {
    return Side{'N', std::max(row_stride, columns)};
  }
  if ((row_stride == 1 || rows == 1) && (column_stride >= rows || columns == 1)) {
    return Side{'T', std::max(column_stride, rows)};
  }
  return std::nullopt;
}

bool plain(const at::Tensor& x) {
  return x.scalar_type() == at::kFloat && x.is_cpu() && !x.is_neg();
}

/// Returns an undefined tensor if oneDNN does not support the product.
at::Tensor onednn_product(const at::Tensor& a, const at::Tensor& b) {
  const int64_t d = a.dim() - 2;  // dimensions before the matrices'
  const int64_t m = a.size(d), k = a.size(d + 1), n = b.size(d + 1);
  const int64_t count = d == 0 ? 1 : a.size(0);
  if (!plain(a) || !plain(b) || m * k * n * count == 0) return {};
  const auto left = side_of(m, k, a.stride(d), a.stride(d + 1));
  const auto right = side_of(k, n, b.stride(d), b.stride(d + 1));
  if (!left || !right) return {};
  at::Tensor out = d == 0 ? at::empty({m, n}, a.options()) : at::empty({count, m, n}, a.options());
  const auto* pa = a.data_ptr<float>();
  const auto* pb = b.data_ptr<float>();
  auto* pc = out.data_ptr<float>();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t ia = d == 0 ? 0 : i * a.stride(0), ib = d == 0 ? 0 : i * b.stride(0);
    if (dnnl_sgemm(left->transposed, right->transposed, m, n, k, 1, pa + ia, left->stride, pb + ib,
                   right->stride, 0, pc + i * m * n, n) != dnnl_success) {
      return {};
    }
  }
  return out;
}

#else

at::Tensor onednn_product(const at::Tensor&, const at::Tensor&) { return {}; }

#endif

std::atomic<bool>& own_kernels() {
  static std::atomic<bool> used = true;
  return used;
}

}  // namespace

void use_own_kernels(bool use) { own_kernels() = use; }
bool own_kernels_used() { return own_kernels(); }

at::Tensor matrix_product(const at::Tensor& a, const at::Tensor& b) {
  if (own_kernels_used()) {
    if (at::Tensor out = onednn_product(a, b); out.defined()) return out;
  }
  return a.dim() == 2 ? at::mm(a, b) : at::bmm(a, b);
}

}  // namespace goban::train::mesh

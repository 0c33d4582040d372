#include "mesh/kernels.hpp"

#include <ATen/ATen.h>

#include "base/check.hpp"

namespace goban::mesh {
namespace {

constexpr const char* kTanhForm = "tanh";

/// [..., h, w, c] as [n, c, h, w] without a copy (channels last in memory).
at::Tensor to_nchw(const at::Tensor& x) {
  const auto sizes = x.sizes();
  const auto n = sizes.size();
  return x.reshape({-1, sizes[n - 3], sizes[n - 2], sizes[n - 1]}).permute({0, 3, 1, 2});
}

at::Tensor from_nchw(const at::Tensor& x, at::IntArrayRef like) {
  return x.permute({0, 2, 3, 1}).reshape(like);
}

/// [h, w, in, out] as [out, in, h, w], channels last in memory as the images are: with mixed forms
/// the library copies images instead of this.
at::Tensor to_oihw(const at::Tensor& filter) {
  return filter.permute({3, 2, 0, 1}).contiguous(at::MemoryFormat::ChannelsLast);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> backward(const at::Tensor& dy, const at::Tensor& x,
                                                        const at::Tensor& weight,
                                                        const Attributes& a,
                                                        std::array<bool, 3> wanted) {
  return at::convolution_backward(dy, x, weight, c10::nullopt, {a.stride, a.stride},
                                  {a.pad_h, a.pad_w}, {1, 1}, false, {0, 0}, 1, wanted);
}

at::Tensor compared(const at::Tensor& truth, const at::Tensor& like) {
  return truth.to(like.scalar_type());
}

}  // namespace

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return at::kFloat;
    case DType::F64:
      return at::kDouble;
    case DType::BF16:
      return at::kBFloat16;
    case DType::I64:
      return at::kLong;
  }
  return at::kFloat;
}

at::Tensor unary_kernel(Unary fn, const at::Tensor& x, double scalar, bool reuse) {
  at::Tensor in_place = x;
  switch (fn) {
    case Unary::Identity:
    case Unary::StopGradient:
      return x;
    case Unary::Neg:
      return reuse ? in_place.neg_() : at::neg(x);
    case Unary::Scale: {
      if (x.scalar_type() == at::kLong) return at::mul(x, static_cast<int64_t>(scalar));
      return reuse ? in_place.mul_(scalar) : at::mul(x, scalar);
    }
    case Unary::AddScalar: {
      if (x.scalar_type() == at::kLong) return at::add(x, static_cast<int64_t>(scalar));
      return reuse ? in_place.add_(scalar) : at::add(x, scalar);
    }
    case Unary::Relu:
      return reuse ? at::relu_(in_place) : at::relu(x);
    case Unary::Exp:
      return reuse ? in_place.exp_() : at::exp(x);
    case Unary::Log:
      return at::log(x);
    case Unary::Tanh:
      return at::tanh(x);
    case Unary::Sigmoid:
      return at::sigmoid(x);
    case Unary::Gelu:
      return at::gelu(x, kTanhForm);
    case Unary::Sqrt:
      return at::sqrt(x);
    case Unary::Rsqrt:
      return at::rsqrt(x);
    case Unary::Square:
      return at::mul(x, x);
    case Unary::Reciprocal:
      return at::reciprocal(x);
    case Unary::Abs:
      return at::abs(x);
    case Unary::Sign:
      return at::sign(x);
    case Unary::Sin:
      return at::sin(x);
    case Unary::Cos:
      return at::cos(x);
  }
  GOBAN_CHECK(false, "unary");
}

at::Tensor binary_kernel(Binary fn, const at::Tensor& a, const at::Tensor& b, bool reuse) {
  at::Tensor in_place = a;
  switch (fn) {
    case Binary::Add:
      return reuse ? in_place.add_(b) : at::add(a, b);
    case Binary::Sub:
      return reuse ? in_place.sub_(b) : at::sub(a, b);
    case Binary::Mul:
      return reuse ? in_place.mul_(b) : at::mul(a, b);
    case Binary::Div:
      return reuse ? in_place.div_(b) : at::div(a, b);
    case Binary::Max:
      return at::maximum(a, b);
    case Binary::Min:
      return at::minimum(a, b);
    case Binary::Less:
      return compared(at::lt(a, b), a);
    case Binary::LessEqual:
      return compared(at::le(a, b), a);
    case Binary::Equal:
      return compared(at::eq(a, b), a);
    case Binary::ReluGrad:
      return at::threshold_backward(a, b, 0);
    case Binary::TanhGrad:
      return at::tanh_backward(a, b);
    case Binary::SigmoidGrad:
      return at::sigmoid_backward(a, b);
    case Binary::GeluGrad:
      return at::gelu_backward(a, b, kTanhForm);
  }
  GOBAN_CHECK(false, "binary");
}

at::Tensor reduce_kernel(Reducer reducer, const at::Tensor& x, const std::vector<int64_t>& axes) {
  switch (reducer) {
    case Reducer::Sum:
      return at::sum(x, axes);
    case Reducer::Max:
      return at::amax(x, axes);
    case Reducer::Min:
      return at::amin(x, axes);
  }
  GOBAN_CHECK(false, "reduce");
}

at::Tensor conv2d_kernel(const at::Tensor& x, const at::Tensor& filter, const Attributes& a,
                         at::IntArrayRef like) {
  const at::Tensor y =
      at::conv2d(to_nchw(x), to_oihw(filter), {}, {a.stride, a.stride}, {a.pad_h, a.pad_w});
  return from_nchw(y, like);
}

at::Tensor conv2d_input_kernel(const at::Tensor& dy, const at::Tensor& filter, const Attributes& a,
                               at::IntArrayRef like) {
  const at::Tensor sizes_only = at::empty(like, dy.options());
  const auto grads =
      backward(to_nchw(dy), to_nchw(sizes_only), to_oihw(filter), a, {true, false, false});
  return from_nchw(std::get<0>(grads), like);
}

at::Tensor conv2d_filter_kernel(const at::Tensor& dy, const at::Tensor& x, const Attributes& a,
                                at::IntArrayRef like) {
  const at::Tensor sizes_only = at::empty(like, dy.options());
  const auto grads =
      backward(to_nchw(dy), to_nchw(x), to_oihw(sizes_only), a, {false, true, false});
  return std::get<1>(grads).permute({2, 3, 1, 0});
}

}  // namespace goban::mesh

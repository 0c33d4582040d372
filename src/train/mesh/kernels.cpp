#include "train/mesh/kernels.hpp"

#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/sigmoid_backward.h>
#include <ATen/ops/tanh_backward.h>
#include <ATen/ops/threshold_backward.h>

#include "base/check.hpp"

namespace goban::train::mesh {
namespace {

constexpr const char* kTanhForm = "tanh";

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
    case DType::F16:
      return at::kHalf;
    case DType::I64:
      return at::kLong;
  }
  return at::kFloat;
}

bool is_emulated(DType dtype, c10::Device device) { return dtype == DType::F16 && device.is_cpu(); }

at::ScalarType stored_type(DType dtype, c10::Device device) {
  return is_emulated(dtype, device) ? at::kFloat : scalar_type(dtype);
}

at::Tensor rounded_to_half(const at::Tensor& x) { return x.to(at::kHalf).to(at::kFloat); }

at::Tensor unary_kernel(Unary fn, const at::Tensor& x, double scalar, bool reuse) {
  at::Tensor in_place = x;
  switch (fn) {
    case Unary::Identity:
    case Unary::StopGradient:
      return x;
    case Unary::Neg:
      return reuse ? in_place.neg_() : x.neg();
    case Unary::Scale: {
      if (x.scalar_type() == at::kLong) return x.mul(static_cast<int64_t>(scalar));
      return reuse ? in_place.mul_(scalar) : x.mul(scalar);
    }
    case Unary::AddScalar: {
      if (x.scalar_type() == at::kLong) return x.add(static_cast<int64_t>(scalar));
      return reuse ? in_place.add_(scalar) : x.add(scalar);
    }
    case Unary::Relu:
      return reuse ? in_place.relu_() : x.relu();
    case Unary::Exp:
      return reuse ? in_place.exp_() : x.exp();
    case Unary::Log:
      return x.log();
    case Unary::Tanh:
      return x.tanh();
    case Unary::Sigmoid:
      return x.sigmoid();
    case Unary::Gelu:
      return at::gelu(x, kTanhForm);
    case Unary::Sqrt:
      return x.sqrt();
    case Unary::Rsqrt:
      return x.rsqrt();
    case Unary::Square:
      return x.mul(x);
    case Unary::Reciprocal:
      return x.reciprocal();
    case Unary::Abs:
      return x.abs();
    case Unary::Sign:
      return x.sign();
    case Unary::Sin:
      return x.sin();
    case Unary::Cos:
      return x.cos();
    case Unary::Floor:
      return x.floor();
    case Unary::Not:
      return compared(x.logical_not(), x);
  }
  GOBAN_CHECK(false, "unary");
}

at::Tensor binary_kernel(Binary fn, const at::Tensor& a, const at::Tensor& b, bool reuse) {
  at::Tensor in_place = a;
  switch (fn) {
    case Binary::Add:
      return reuse ? in_place.add_(b) : a.add(b);
    case Binary::Sub:
      return reuse ? in_place.sub_(b) : a.sub(b);
    case Binary::Mul:
      return reuse ? in_place.mul_(b) : a.mul(b);
    case Binary::Div:
      return reuse ? in_place.div_(b) : a.div(b);
    case Binary::Max:
      return a.maximum(b);
    case Binary::Min:
      return a.minimum(b);
    case Binary::Less:
      return compared(a.lt(b), a);
    case Binary::LessEqual:
      return compared(a.le(b), a);
    case Binary::Equal:
      return compared(a.eq(b), a);
    case Binary::NotEqual:
      return compared(a.ne(b), a);
    case Binary::Greater:
      return compared(a.gt(b), a);
    case Binary::GreaterEqual:
      return compared(a.ge(b), a);
    case Binary::And:
      return compared(a.logical_and(b), a);
    case Binary::Or:
      return compared(a.logical_or(b), a);
    case Binary::FloorDiv:
      return a.floor_divide(b);
    case Binary::Mod:
      return a.remainder(b);
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
      return x.sum(axes);
    case Reducer::Max:
      return x.amax(axes);
    case Reducer::Min:
      return x.amin(axes);
  }
  GOBAN_CHECK(false, "reduce");
}

}  // namespace goban::train::mesh

#include "train/mesh/kernels.hpp"

#include <ATen/ATen.h>

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
    case Unary::Floor:
      return at::floor(x);
    case Unary::Not:
      return compared(at::logical_not(x), x);
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
    case Binary::NotEqual:
      return compared(at::ne(a, b), a);
    case Binary::Greater:
      return compared(at::gt(a, b), a);
    case Binary::GreaterEqual:
      return compared(at::ge(a, b), a);
    case Binary::And:
      return compared(at::logical_and(a, b), a);
    case Binary::Or:
      return compared(at::logical_or(a, b), a);
    case Binary::FloorDiv:
      return at::floor_divide(a, b);
    case Binary::Mod:
      return at::remainder(a, b);
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

}  // namespace goban::train::mesh

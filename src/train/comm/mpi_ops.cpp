#include "train/comm/mpi_ops.hpp"

#include <cmath>

namespace goban::train::comm {
namespace {

template <typename T, Reduction kReduction>
// NOLINTNEXTLINE(readability-non-const-parameter): as MPI declares it
void nan_wins(void* in, void* in_out, int* count, MPI_Datatype*) {
  const T* a = static_cast<const T*>(in);
  T* b = static_cast<T*>(in_out);
  for (int i = 0; i < *count; ++i) {
    const bool further = kReduction == Reduction::Max ? a[i] > b[i] : a[i] < b[i];
    if (further || std::isnan(a[i])) b[i] = a[i];
  }
}

template <typename T, Reduction kReduction>
MPI_Op own() {
  static const MPI_Op op = [] {
    MPI_Op made = MPI_OP_NULL;
    MPI_Op_create(nan_wins<T, kReduction>, /*commute=*/1, &made);
    return made;
  }();
  return op;
}

}  // namespace

MPI_Datatype mpi_type(Element element) {
  switch (element) {
    case Element::F32:
      return MPI_FLOAT;
    case Element::F64:
      return MPI_DOUBLE;
    case Element::I64:
      return MPI_INT64_T;
    case Element::BF16:
    case Element::U8:
      return MPI_UINT8_T;
  }
  return MPI_BYTE;
}

MPI_Op mpi_op(Element element, Reduction reduction) {
  if (reduction == Reduction::Sum) return MPI_SUM;
  const bool largest = reduction == Reduction::Max;
  if (element == Element::F32) {
    return largest ? own<float, Reduction::Max>() : own<float, Reduction::Min>();
  }
  if (element == Element::F64) {
    return largest ? own<double, Reduction::Max>() : own<double, Reduction::Min>();
  }
  return largest ? MPI_MAX : MPI_MIN;
}

}  // namespace goban::train::comm

// Columns as an Arrow C stream. Source: the Arrow C data and C stream interfaces, arrow.apache.org
// (specification "The Arrow PyCapsule Interface"); no library of Arrow's is needed.
#pragma once

#include <nanobind/nanobind.h>

namespace goban::lab {

namespace nb = nanobind;

/// A capsule "arrow_array_stream" with one batch, whose values are copied once. A column is a numpy
/// array of float64, int32, int64 or uint8, a list of str, or a tuple (offsets, values) of int32
/// arrays: lists. Errors: TypeError for other columns, ValueError for columns of different lengths.
[[nodiscard]] nb::object arrow_stream(const nb::dict& columns);

}  // namespace goban::lab

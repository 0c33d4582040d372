// What methods of a policy in Python see: views that are valid during one call.
#pragma once

#include <array>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <string>
#include <vector>

#include "study/lab/methods.hpp"

namespace goban::lab {

namespace nb = nanobind;
namespace core_lab = goban::study::lab;

using Reals = nb::ndarray<nb::numpy, const double, nb::ndim<1>>;
using Wholes = nb::ndarray<nb::numpy, const int32_t, nb::ndim<1>>;
using Bytes = nb::ndarray<nb::numpy, const uint8_t, nb::ndim<1>>;

/// A read-only array that owns its values.
template <typename Array, typename T>
nb::object array_of(std::vector<T> values) {
  auto* owned = new std::vector<T>(std::move(values));
  const nb::capsule owner(owned,
                          [](void* held) noexcept { delete static_cast<std::vector<T>*>(held); });
  return nb::cast(Array(owned->data(), {owned->size()}, owner));
}

/// Arrays that were handed out during a call, made when first asked for.
class Handed {
 public:
  static constexpr size_t kMost = 16;
  /// The array at this place, or an invalid object.
  [[nodiscard]] nb::object& at(size_t place) { return arrays_[place]; }
  /// Ends the call. True if somebody else still refers to an array.
  [[nodiscard]] bool close();
  [[nodiscard]] bool is_open() const { return open_; }
  /// Raises RuntimeError after the call.
  void check_open(const char* view) const;

 private:
  std::array<nb::object, kMost> arrays_;
  bool open_ = true;
};

/// The jobs of `order`, `select` and `preempt`.
struct QueueView {
  const core_lab::JobRows* rows = nullptr;
  nb::object rng;
  int32_t free_gpus = -1;  ///< -1: the method does not see it
  Handed handed{};
};

/// The jobs of `size`.
struct SizingView : QueueView {
  const core_lab::SizeRows* sizes = nullptr;
};

/// The free GPUs of `place`.
struct FreeView {
  const core_lab::PlaceView* place = nullptr;
  Handed handed{};
};

/// The job of `place`.
struct JobView {
  const core_lab::PlaceView* place = nullptr;
  std::string name;
  double duration_s = -1;  ///< -1: the policy does not see it
  bool open = true;
};

/// The first argument of `place`.
struct PlacingView {
  const core_lab::PlaceView* place = nullptr;
  nb::object free;
  nb::object rng;
  bool open = true;
};

/// Registers the classes.
void bind_views(nb::module_& module);

}  // namespace goban::lab

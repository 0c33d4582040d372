// Named dimensions and shapes (Mesh TensorFlow, section 2), independent of any device.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace goban::train::mesh {

/// An invalid model (unknown dimension, sizes that differ). Thrown while a graph is built; the
/// message has the operation and the shapes. Layouts never cause it.
class GraphError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// A dimension: name and size. Two dimensions are equal only if both are.
struct Dim {
  std::string name;
  int64_t size = 1;
  friend bool operator==(const Dim&, const Dim&) = default;
};

/// Ordered dimensions with distinct names. A scalar has none.
/// Errors: GraphError for a repeated name or a size below 1.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<Dim> dims);
  explicit Shape(std::vector<Dim> dims);

  [[nodiscard]] const std::vector<Dim>& dims() const { return dims_; }
  [[nodiscard]] size_t rank() const { return dims_.size(); }
  [[nodiscard]] const Dim& operator[](size_t i) const { return dims_[i]; }
  [[nodiscard]] std::optional<size_t> find(const std::string& name) const;
  [[nodiscard]] bool has(const std::string& name) const { return find(name).has_value(); }
  /// The dimension with that name. Errors: GraphError, with the known names.
  [[nodiscard]] const Dim& dim(const std::string& name) const;
  [[nodiscard]] size_t axis(const std::string& name) const;
  /// Number of elements.
  [[nodiscard]] int64_t size() const;
  /// Product of the sizes before `axis`.
  [[nodiscard]] int64_t prefix(size_t axis) const;

  [[nodiscard]] Shape plus(const Dim& dim) const;
  /// This shape followed by the dimensions of `other` that it lacks.
  [[nodiscard]] Shape united(const Shape& other) const;
  [[nodiscard]] Shape without(const std::vector<std::string>& names) const;
  /// `name` replaced by `dim`, in the same position.
  [[nodiscard]] Shape replaced(const std::string& name, const Dim& dim) const;
  [[nodiscard]] std::string text() const;  ///< `[batch=4, hidden=8]`

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<Dim> dims_;
};

}  // namespace goban::train::mesh

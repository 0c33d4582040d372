// The methods of a policy that is a Python object.
#pragma once

#include <functional>
#include <nanobind/nanobind.h>

#include "core/model/job_history.hpp"
#include "study/lab/methods.hpp"
#include "views.hpp"

namespace goban::lab {

/// Where a run was when it failed; Python reads it to write the error.
struct Where {
  std::string method;
  uint32_t job = UINT32_MAX;  ///< UINT32_MAX: no job in particular
  double at_s = -1;           ///< -1: before the run
  int64_t calls = 0;          ///< of all methods
};

class PythonMethods final : public core_lab::Methods {
 public:
  /// `policy` has the methods; `rng` is handed to its views.
  PythonMethods(nb::object policy, nb::object rng, const core::model::JobHistory& history,
                bool oracle, Where& where);

  void order(const core_lab::JobRows& rows, std::span<double> keys) override;
  void preempt(const core_lab::JobRows& rows, std::span<double> keys) override;
  void select(const core_lab::JobRows& rows, int32_t free_gpus,
              std::vector<int64_t>& chosen) override;
  bool place(const core_lab::PlaceView& view, std::vector<int64_t>& gpus) override;
  void size(const core_lab::SizeRows& rows, std::span<double> gpus) override;

 private:
  void enter(const char* method, uint32_t job, double at_s);
  void keys_from(const char* method, const core_lab::JobRows& rows, std::span<double> keys);
  /// Calls a method with a view that ends with the call. `read` takes what was returned, which may
  /// be an array of the view. Throws what either throws, and `Fault` if an array of the view was
  /// kept.
  void call(const char* method, nb::object view, const std::function<void(nb::handle)>& read) const;
  [[nodiscard]] core_lab::Fault fault(std::string problem, std::string remedy) const;
  void read_keys(nb::handle returned, std::span<double> keys) const;
  void read_ids(nb::handle returned, std::vector<int64_t>& out) const;

  nb::object policy_;
  nb::object rng_;
  nb::object as_array_;  ///< numpy.asarray
  const core::model::JobHistory& history_;
  bool oracle_;
  Where& where_;
  int64_t at_ns_ = -1;
};

}  // namespace goban::lab

#include "python_methods.hpp"

#include <algorithm>

namespace goban::lab {

using core_lab::Fault;
using core_lab::JobRows;

namespace {

/// The text of a value, cut to a line.
std::string shown(nb::handle value) {
  constexpr size_t kMost = 200;
  std::string text;
  try {
    text = nb::cast<std::string>(nb::str(nb::repr(value)));
  } catch (const nb::python_error&) {
    text = "a value without a text";
  }
  std::ranges::replace(text, '\n', ' ');
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

std::string type_of(nb::handle value) {
  return nb::cast<std::string>(nb::str(value.type().attr("__name__")));
}

using Keys = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

}  // namespace

PythonMethods::PythonMethods(nb::object policy, nb::object rng,
                             const core::model::JobHistory& history, bool oracle, Where& where)
    : policy_(std::move(policy)),
      rng_(std::move(rng)),
      as_array_(nb::module_::import_("numpy").attr("asarray")),
      history_(history),
      oracle_(oracle),
      where_(where) {}

void PythonMethods::enter(const char* method, uint32_t job, double at_s) {
  where_.method = method;
  where_.job = job;
  where_.at_s = at_s;
  ++where_.calls;
}

Fault PythonMethods::fault(std::string problem, std::string remedy) const {
  Fault out(where_.method, std::move(problem), std::move(remedy));
  out.job = core::model::JobId(where_.job);
  out.at_ns = at_ns_;
  return out;
}

void PythonMethods::order(const JobRows& rows, std::span<double> keys) {
  keys_from("order", rows, keys);
}

void PythonMethods::preempt(const JobRows& rows, std::span<double> keys) {
  keys_from("preempt", rows, keys);
}

void PythonMethods::keys_from(const char* method, const JobRows& rows, std::span<double> keys) {
  at_ns_ = rows.now_ns().value_or(-1);
  const double at_s = rows.now_ns() ? base::to_seconds(at_ns_) : -1;
  enter(method, rows.size() == 1 ? rows.job(0).job.value : UINT32_MAX, at_s);
  call(method, nb::cast(QueueView{.rows = &rows, .rng = rng_}),
       [&](nb::handle returned) { read_keys(returned, keys); });
}

void PythonMethods::size(const core_lab::SizeRows& rows, std::span<double> gpus) {
  const JobRows& jobs = rows.jobs();
  at_ns_ = jobs.now_ns().value_or(-1);
  enter("size", jobs.size() == 1 ? jobs.job(0).job.value : UINT32_MAX, base::to_seconds(at_ns_));
  SizingView view;
  view.rows = &jobs;
  view.rng = rng_;
  view.sizes = &rows;
  call("size", nb::cast(std::move(view)), [&](nb::handle returned) { read_keys(returned, gpus); });
}

void PythonMethods::call(const char* method, nb::object view,
                         const std::function<void(nb::handle)>& read) const {
  auto& handed = nb::cast<QueueView&>(view).handed;
  try {
    const nb::object returned = policy_.attr(method)(view);
    read(returned);
  } catch (...) {
    (void)handed.close();
    throw;
  }
  if (handed.close()) {
    throw fault("an array of the view is still referred to after the call",
                "keep a copy instead: view.gpus.copy()");
  }
}

void PythonMethods::read_keys(nb::handle returned, std::span<double> keys) const {
  Keys array;
  if (!nb::try_cast(returned, array, false)) {
    // numpy would drop the imaginary parts with a warning.
    const nb::object type = nb::getattr(returned, "dtype", nb::none());
    if (nb::getattr(type, "kind", nb::none()).equal(nb::str("c"))) {
      throw fault("returned " + type_of(returned) + " " + shown(returned) + ", not real numbers",
                  "return an array of " + std::to_string(keys.size()) + " numbers");
    }
    nb::object converted;
    try {
      converted = as_array_(returned, "float64");
    } catch (const nb::python_error&) {
      throw fault(
          "returned " + type_of(returned) + " " + shown(returned) + ", not a number for each row",
          "return an array of " + std::to_string(keys.size()) + " numbers");
    }
    if (!nb::try_cast(converted, array)) {
      throw fault(
          "returned " + type_of(returned) + " " + shown(returned) + ", not a row of numbers",
          "return an array of " + std::to_string(keys.size()) + " numbers");
    }
  }
  if (array.shape(0) != keys.size()) {
    const bool sizes = where_.method == "size";
    throw fault("returned " + std::to_string(array.shape(0)) +
                    (sizes ? " sizes for " : " keys for ") + std::to_string(keys.size()) + " jobs",
                "return a number for each row of the view, in its order");
  }
  std::copy_n(array.data(), keys.size(), keys.begin());
}

void PythonMethods::read_ids(nb::handle returned, std::vector<int64_t>& out) const {
  const auto wrong = [&] {
    PyErr_Clear();
    return fault("returned " + type_of(returned) + " " + shown(returned) + ", not whole numbers",
                 "return a list of whole numbers");
  };
  PyObject* raw = PySequence_Fast(returned.ptr(), "");
  if (raw == nullptr) throw wrong();
  const nb::object sequence = nb::steal(raw);
  const Py_ssize_t count = PySequence_Size(raw);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const nb::object item = nb::steal(PySequence_GetItem(raw, i));
    if (!item.is_valid() || PyBool_Check(item.ptr())) throw wrong();
    const nb::object whole = nb::steal(PyNumber_Index(item.ptr()));
    if (!whole.is_valid()) throw wrong();
    const int64_t value = PyLong_AsLongLong(whole.ptr());
    if (value == -1 && PyErr_Occurred() != nullptr) throw wrong();
    out.push_back(value);
  }
}

void PythonMethods::select(const JobRows& rows, int32_t free_gpus, std::vector<int64_t>& chosen) {
  at_ns_ = rows.now_ns().value_or(-1);
  enter("select", UINT32_MAX, base::to_seconds(at_ns_));
  call("select", nb::cast(QueueView{.rows = &rows, .rng = rng_, .free_gpus = free_gpus}),
       [&](nb::handle returned) { read_ids(returned, chosen); });
}

bool PythonMethods::place(const core_lab::PlaceView& view, std::vector<int64_t>& gpus) {
  at_ns_ = view.now_ns;
  enter("place", view.job.value, base::to_seconds(view.now_ns));
  nb::object free = nb::cast(FreeView{.place = &view});
  nb::object placing = nb::cast(PlacingView{.place = &view, .free = free, .rng = rng_});
  nb::object job =
      nb::cast(JobView{.place = &view,
                       .name = std::string(history_.job_names[view.job.index()]),
                       .duration_s = oracle_ ? history_.jobs[view.job.index()].work_s : -1});
  const auto close = [&] {
    auto& placing_view = nb::cast<PlacingView&>(placing);
    placing_view.open = false;
    placing_view.free.reset();
    nb::cast<JobView&>(job).open = false;
    return nb::cast<FreeView&>(free).handed.close();
  };
  bool placed = false;
  try {
    const nb::object returned = policy_.attr("place")(placing, job);
    placed = !returned.is_none() && returned.ptr() != Py_False;
    if (placed) read_ids(returned, gpus);
  } catch (...) {
    (void)close();
    throw;
  }
  if (close()) {
    throw fault("an array of view.free is still referred to after the call",
                "keep a copy instead: view.free.by_node.copy()");
  }
  return placed;
}

}  // namespace goban::lab

#include "views.hpp"

#include <memory>

#include "core/policy/knowledge.hpp"
#include "core/policy/part.hpp"
#include "core/policy/placement/placement.hpp"
#include "core/policy/policy_options.hpp"

namespace goban::lab {

using core::model::FreeGpus;
using core::model::GpuId;
using core::model::NodeId;
using core_lab::RealColumn;
using core_lab::WholeColumn;

bool Handed::close() {
  open_ = false;
  bool kept = false;
  for (nb::object& array : arrays_) {
    kept = kept || (array.is_valid() && Py_REFCNT(array.ptr()) > 1);
    array.reset();
  }
  return kept;
}

void Handed::check_open(const char* view) const {
  if (!open_)
    throw std::runtime_error(std::string(view) + " is used after the call it was made for");
}

namespace {

constexpr size_t kWholes = 6;  // first in Handed, then the columns of reals

nb::object wholes(QueueView& view, WholeColumn column) {
  view.handed.check_open("the view");
  nb::object& array = view.handed.at(static_cast<size_t>(column));
  if (!array.is_valid()) array = array_of<Wholes>(view.rows->wholes(column));
  return array;
}

nb::object reals(QueueView& view, RealColumn column) {
  view.handed.check_open("the view");
  if (column == RealColumn::DurationS && !view.rows->sees_durations()) {
    throw nb::attribute_error(
        "duration_s: true run times are for policies that state oracle = True");
  }
  nb::object& array = view.handed.at(kWholes + static_cast<size_t>(column));
  if (!array.is_valid()) array = array_of<Reals>(view.rows->reals(column));
  return array;
}

template <WholeColumn kColumn>
nb::object whole_column(QueueView& view) {
  return wholes(view, kColumn);
}
template <RealColumn kColumn>
nb::object real_column(QueueView& view) {
  return reals(view, kColumn);
}

constexpr size_t kSizes = 12;  // first in Handed of the columns of `size`, after all others

/// A column of `size`: `value` of each row.
template <typename T, typename Array>
nb::object size_column(SizingView& view, size_t place, auto value) {
  view.handed.check_open("the view");
  nb::object& array = view.handed.at(kSizes + place);
  if (!array.is_valid()) {
    std::vector<T> out(view.sizes->jobs().size());
    for (size_t row = 0; row < out.size(); ++row) out[row] = value(*view.sizes, row);
    array = array_of<Array>(std::move(out));
  }
  return array;
}

/// What the job of a row can run on: `member` of each of its levels.
template <typename T, typename Array>
nb::object of_levels(const SizingView& view, size_t row, T core::model::SpeedLevel::* member) {
  view.handed.check_open("the view");
  if (row >= view.sizes->jobs().size()) throw nb::index_error("no such row");
  std::vector<T> out;
  for (const core::model::SpeedLevel& level : view.sizes->levels(row)) out.push_back(level.*member);
  return array_of<Array>(std::move(out));
}

nb::object list_of(const std::vector<GpuId>& gpus) {
  nb::list out;
  for (const GpuId gpu : gpus) out.append(gpu.value);
  return out;
}

const FreeGpus& free_of(const FreeView& view) {
  view.handed.check_open("view.free");
  return *view.place->free;
}

/// GPUs of the node with the fewest free ones that suffice.
nb::object one_node(const FreeView& view, uint32_t count) {
  const FreeGpus& free = free_of(view);
  const auto& nodes = free.by_node();
  if (count == 0 || count > nodes.count_max()) return nb::none();
  const uint32_t node = nodes.tightest(count);
  if (node == core::model::DomainSet::kNone) return nb::none();
  std::vector<GpuId> gpus;
  free.append_lowest(NodeId(node), count, gpus);
  return list_of(gpus);
}

nb::object lowest(const FreeView& view, uint32_t count) {
  const FreeGpus& free = free_of(view);
  if (static_cast<int64_t>(count) > free.total()) return nb::none();
  std::vector<GpuId> gpus;
  for (uint32_t gpu = 0; gpus.size() < count; ++gpu) {
    gpu = free.first_from(gpu);
    gpus.emplace_back(gpu);
  }
  return list_of(gpus);
}

nb::object packed(const FreeView& view, uint32_t count) {
  const FreeGpus& free = free_of(view);
  core::policy::PolicySet set;
  core::policy::find_part("packed")->install(set, {}, {});
  core::model::Allocation out;
  if (!set.placement->place({.speed = nullptr, .free = &free, .bins = nullptr}, {.num_gpus = count},
                            out)) {
    return nb::none();
  }
  return list_of(out.gpus);
}

nb::object on_node(const FreeView& view, uint32_t node) {
  const FreeGpus& free = free_of(view);
  if (node >= free.cluster().nodes().size()) throw nb::index_error("no such node");
  std::vector<GpuId> gpus;
  free.append_lowest(NodeId(node), free.on_node(NodeId(node)), gpus);
  return list_of(gpus);
}

nb::object by_node(FreeView& view) {
  const FreeGpus& free = free_of(view);
  nb::object& array = view.handed.at(0);
  if (!array.is_valid()) {
    const auto counts = free.by_node().counts();
    array = array_of<Bytes>(std::vector<uint8_t>(counts.begin(), counts.end()));
  }
  return array;
}

const core_lab::PlaceView& place_of(const JobView& view) {
  if (!view.open) throw std::runtime_error("the job is used after the call it was made for");
  return *view.place;
}

const core_lab::PlaceView& place_of(const PlacingView& view) {
  if (!view.open) throw std::runtime_error("the view is used after the call it was made for");
  return *view.place;
}

void bind_queue(nb::module_& m) {
  nb::class_<QueueView>(m, "View")
      .def("__len__",
           [](const QueueView& v) {
             v.handed.check_open("the view");
             return v.rows->size();
           })
      .def_prop_ro("job", whole_column<WholeColumn::Job>)
      .def_prop_ro("gpus", whole_column<WholeColumn::Gpus>)
      .def_prop_ro("priority", whole_column<WholeColumn::Priority>)
      .def_prop_ro("user", whole_column<WholeColumn::User>)
      .def_prop_ro("starts", whole_column<WholeColumn::Starts>)
      .def_prop_ro("running", whole_column<WholeColumn::Running>)
      .def_prop_ro("submit_s", real_column<RealColumn::SubmitS>)
      .def_prop_ro("wait_s", real_column<RealColumn::WaitS>)
      .def_prop_ro("attained_s", real_column<RealColumn::AttainedS>)
      .def_prop_ro("estimate_s", real_column<RealColumn::EstimateS>)
      .def_prop_ro("limit_s", real_column<RealColumn::LimitS>)
      .def_prop_ro("duration_s", real_column<RealColumn::DurationS>)
      .def_prop_ro("now_s",
                   [](const QueueView& v) {
                     v.handed.check_open("the view");
                     if (!v.rows->now_ns()) {
                       throw nb::attribute_error(
                           "now_s: keys that are computed once, on arrival, see no clock");
                     }
                     return base::to_seconds(*v.rows->now_ns());
                   })
      .def_prop_ro("free_gpus",
                   [](const QueueView& v) {
                     v.handed.check_open("the view");
                     if (v.free_gpus < 0) throw nb::attribute_error("free_gpus: only in select");
                     return v.free_gpus;
                   })
      .def_prop_ro("rng", [](const QueueView& v) { return v.rng; });
}

void bind_size(nb::module_& m) {
  using core::model::SpeedLevel;
  using core_lab::SizeRows;
  nb::class_<SizingView, QueueView>(m, "SizeView")
      .def_prop_ro("gpus_min",
                   [](SizingView& v) {
                     return size_column<int32_t, Wholes>(
                         v, 0, [](const SizeRows& r, size_t i) { return r.gpus_min(i); });
                   })
      .def_prop_ro("gpus_max",
                   [](SizingView& v) {
                     return size_column<int32_t, Wholes>(
                         v, 1, [](const SizeRows& r, size_t i) { return r.gpus_max(i); });
                   })
      .def_prop_ro("steps_left",
                   [](SizingView& v) {
                     return size_column<double, Reals>(
                         v, 2, [](const SizeRows& r, size_t i) { return r.steps_left(i); });
                   })
      .def_prop_ro("deadline_s",
                   [](SizingView& v) {
                     return size_column<double, Reals>(
                         v, 3, [](const SizeRows& r, size_t i) { return r.deadline_s(i); });
                   })
      .def(
          "sizes",
          [](const SizingView& v, size_t row) {
            return of_levels<int32_t, Wholes>(v, row, &SpeedLevel::gpus);
          },
          nb::arg("row"))
      .def(
          "steps_per_s",
          [](const SizingView& v, size_t row) {
            return of_levels<double, Reals>(v, row, &SpeedLevel::steps_per_s);
          },
          nb::arg("row"))
      .def_prop_ro("total_gpus", [](const SizingView& v) {
        v.handed.check_open("the view");
        return v.sizes->total_gpus();
      });
}

void bind_place(nb::module_& m) {
  nb::class_<FreeView>(m, "Free")
      .def("__len__", [](const FreeView& v) { return free_of(v).total(); })
      .def_prop_ro("by_node", by_node)
      .def("one_node", one_node, nb::arg("gpus"))
      .def("lowest", lowest, nb::arg("gpus"))
      .def("packed", packed, nb::arg("gpus"))
      .def("on_node", on_node, nb::arg("node"));
  nb::class_<PlacingView>(m, "PlaceView")
      .def_prop_ro("free", [](const PlacingView& v) { return (place_of(v), v.free); })
      .def_prop_ro("rng", [](const PlacingView& v) { return (place_of(v), v.rng); })
      .def_prop_ro("now_s",
                   [](const PlacingView& v) { return base::to_seconds(place_of(v).now_ns); });
  nb::class_<JobView>(m, "Job")
      .def_prop_ro("id", [](const JobView& v) { return place_of(v).job.value; })
      .def_prop_ro("name", [](const JobView& v) { return (place_of(v), v.name.c_str()); })
      .def_prop_ro("gpus", [](const JobView& v) { return place_of(v).request->num_gpus; })
      .def_prop_ro("priority", [](const JobView& v) { return place_of(v).request->priority; })
      .def_prop_ro("user",
                   [](const JobView& v) {
                     const auto user = place_of(v).request->user;
                     return user.valid() ? static_cast<int64_t>(user.value) : -1;
                   })
      .def_prop_ro(
          "submit_s",
          [](const JobView& v) { return base::to_seconds(place_of(v).request->submit_ns); })
      .def_prop_ro("estimate_s", [](const JobView& v) { return place_of(v).estimate_s; })
      .def_prop_ro(
          "limit_s",
          [](const JobView& v) { return base::to_seconds(place_of(v).request->walltime_limit_ns); })
      .def_prop_ro("duration_s", [](const JobView& v) {
        place_of(v);
        if (v.duration_s < 0) {
          throw nb::attribute_error(
              "duration_s: true run times are for policies that state oracle = True");
        }
        return v.duration_s;
      });
}

}  // namespace

void bind_views(nb::module_& module) {
  bind_queue(module);
  bind_size(module);
  bind_place(module);
}

}  // namespace goban::lab

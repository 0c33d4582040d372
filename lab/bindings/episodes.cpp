#include "episodes.hpp"

#include <memory>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <vector>

#include "core/model/cluster.hpp"
#include "inputs.hpp"
#include "study/lab/episode.hpp"

namespace goban::lab {

namespace nb = nanobind;
using core::model::Cluster;
using study::lab::Episode;

namespace {

constexpr double kHour_s = 3600;

/// `count` episodes on one cluster. Observations are written to arrays that Python reads.
class Episodes {
 public:
  Episodes(size_t count, size_t slots, const Cluster& cluster, std::string parts,
           std::optional<double> restart_cost_s)
      : cluster_(cluster),
        nodes_(cluster.nodes().size()),
        episodes_(count),
        queue_(count * slots * Episode::kFeatures),
        free_(count * nodes_),
        mask_(count * (slots + 1)),
        rewards_(count),
        ended_(count, 1) {
    options_.parts = std::move(parts);
    options_.slots = slots;
    options_.run.restart_cost_s = restart_cost_s;
  }

  Episodes(const Episodes&) = delete;  // arrays of Python refer to its values
  Episodes& operator=(const Episodes&) = delete;

  /// Begins an episode anew.
  void begin(size_t index, const Trace& trace, uint64_t seed) {
    if (trace.rates != nullptr) {
      throw LabError("lab.env() runs no elastic jobs: read the trace without rates");
    }
    options_.run.seed = seed;
    episodes_.at(index).reset();
    episodes_[index] = value_of(Episode::make(trace.history, cluster_, options_));
    if (auto status = episodes_[index]->begin(); !status) fail(index, status.error().text());
    observe(index, 0);
  }

  /// Steps an episode, unless it has ended.
  void step(size_t index, size_t action) {
    Episode* episode = episodes_.at(index).get();
    rewards_[index] = 0;
    if (episode == nullptr || episode->over()) return;
    const double before_s = episode->job_s();
    if (auto status = episode->step(action); !status) fail(index, status.error().text());
    observe(index, episode->job_s() - before_s);
  }

  using Actions = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  void step_all(const Actions& actions) {
    if (actions.size() != episodes_.size()) {
      throw LabError(std::to_string(actions.size()) + " actions for " +
                     std::to_string(episodes_.size()) + " environments");
    }
    // A negative number is no slot, and waits.
    for (size_t i = 0; i < episodes_.size(); ++i) step(i, static_cast<size_t>(actions.data()[i]));
  }

  [[nodiscard]] double now_s(size_t index) const {
    const auto& episode = episodes_.at(index);
    return episode == nullptr ? 0 : episode->now_s();
  }

  /// The arrays, which every step overwrites.
  [[nodiscard]] nb::dict arrays() {
    const nb::object self = nb::find(this);
    const size_t count = episodes_.size();
    nb::dict out;
    out["queue"] = nb::cast(nb::ndarray<nb::numpy, float, nb::ndim<3>>(
        queue_.data(), {count, options_.slots, size_t{Episode::kFeatures}}, self));
    out["free"] =
        nb::cast(nb::ndarray<nb::numpy, float, nb::ndim<2>>(free_.data(), {count, nodes_}, self));
    out["mask"] = nb::cast(nb::ndarray<nb::numpy, int8_t, nb::ndim<2>>(
        mask_.data(), {count, options_.slots + 1}, self));
    out["reward"] =
        nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<1>>(rewards_.data(), {count}, self));
    out["ended"] =
        nb::cast(nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>(ended_.data(), {count}, self));
    return out;
  }

 private:
  [[noreturn]] void fail(size_t index, const std::string& text) {
    episodes_[index].reset();
    ended_[index] = 1;
    throw LabError(text);
  }

  void observe(size_t index, double job_s) {
    const Episode& episode = *episodes_[index];
    const size_t slots = options_.slots;
    episode.observe_slots(
        {&queue_[index * slots * Episode::kFeatures], slots * Episode::kFeatures});
    episode.observe_free({&free_[index * nodes_], nodes_});
    episode.observe_mask({&mask_[index * (slots + 1)], slots + 1});
    rewards_[index] = -job_s / kHour_s / static_cast<double>(episode.jobs());
    ended_[index] = episode.over() ? 1 : 0;
  }

  const Cluster cluster_;
  size_t nodes_;
  study::lab::EpisodeOptions options_;
  std::vector<std::unique_ptr<Episode>> episodes_;
  std::vector<float> queue_;
  std::vector<float> free_;
  std::vector<int8_t> mask_;
  std::vector<double> rewards_;
  std::vector<uint8_t> ended_;
};

}  // namespace

void bind_episodes(nb::module_& m) {
  nb::class_<Episodes>(m, "Episodes")
      .def(nb::init<size_t, size_t, const Cluster&, std::string, std::optional<double>>(),
           nb::arg("count"), nb::arg("slots"), nb::arg("cluster"), nb::arg("parts"),
           nb::arg("restart_cost_s").none())
      .def("begin", &Episodes::begin)
      .def("step", &Episodes::step)
      .def("step_all", &Episodes::step_all)
      .def("now_s", &Episodes::now_s)
      .def("arrays", &Episodes::arrays);
}

}  // namespace goban::lab

#include "rivals.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "inputs.hpp"
#include "study/rivals/replay.hpp"
#include "views.hpp"

namespace goban::lab {
namespace {

using study::rivals::RivalJob;
using study::rivals::RivalReplay;

/// A column: `value` of each job.
template <typename T, typename Array>
nb::object column(const std::vector<RivalJob>& jobs, auto value) {
  std::vector<T> out;
  out.reserve(jobs.size());
  for (const RivalJob& job : jobs) out.push_back(value(job));
  return array_of<Array>(std::move(out));
}

nb::dict job_columns(const std::vector<RivalJob>& jobs) {
  const auto seconds = [&](auto value) { return column<double, Reals>(jobs, value); };
  nb::dict out;
  out["submit_s"] = seconds([](const RivalJob& job) { return job.submit_s; });
  out["gpus"] = column<int32_t, Wholes>(jobs, [](const RivalJob& job) { return job.gpus; });
  out["start_s"] = seconds([](const RivalJob& job) { return job.start_s; });
  out["finish_s"] = seconds([](const RivalJob& job) { return job.finish_s; });
  out["jct_s"] = seconds([](const RivalJob& job) { return job.finish_s - job.submit_s; });
  out["wait_s"] =
      seconds([](const RivalJob& job) { return job.finish_s - job.submit_s - job.held_s; });
  out["held_s"] = seconds([](const RivalJob& job) { return job.held_s; });
  out["preemptions"] =
      column<int32_t, Wholes>(jobs, [](const RivalJob& job) { return job.preemptions; });
  out["alone_s"] = seconds([](const RivalJob& job) { return job.alone_s; });
  return out;
}

/// A row for each job that holds GPUs, decision by decision.
nb::dict decision_columns(const RivalReplay& replay) {
  std::vector<double> at_s;
  std::vector<int32_t> jobs;
  std::vector<int32_t> offsets{0};
  std::vector<int32_t> gpus;
  for (const auto& decision : replay.decisions) {
    for (const auto& holding : decision.holdings) {
      at_s.push_back(decision.now_s);
      jobs.push_back(holding.job);
      gpus.insert(gpus.end(), holding.gpus.begin(), holding.gpus.end());
      offsets.push_back(static_cast<int32_t>(gpus.size()));
    }
  }
  nb::dict out;
  out["at_s"] = array_of<Reals>(std::move(at_s));
  out["job"] = array_of<Wholes>(std::move(jobs));
  out["gpus"] =
      nb::make_tuple(array_of<Wholes>(std::move(offsets)), array_of<Wholes>(std::move(gpus)));
  return out;
}

/// The format of the preset's trace. Errors: LabError naming all presets.
std::string format_of(const std::string& policy) {
  std::string names;
  for (const auto& preset : study::rivals::rival_presets()) {
    if (preset.name == policy) return study::rivals::rival_format_name(preset.format);
    names += names.empty() ? "" : ", ";
    names += preset.name;
  }
  throw LabError("unknown rival '" + policy + "': one of " + names);
}

nb::tuple replay_rival(const std::string& policy, const std::string& trace,
                       const std::string& rates, const std::string& cluster,
                       const std::string& batch_sizes, const std::string& shares,
                       std::optional<double> restart_cost_s) {
  const study::rivals::RivalOptions options{.cluster = cluster,
                                            .format = format_of(policy),
                                            .jobs = trace,
                                            .rates = rates,
                                            .batch_sizes = batch_sizes,
                                            .shares = shares,
                                            .restart_cost_s = restart_cost_s,
                                            .policies = {policy}};
  RivalReplay replay;
  {
    const nb::gil_scoped_release release;
    const auto preset =
        value_of(study::rivals::find_rival(policy, study::rivals::rival_format_of(options)));
    const auto real = value_of(study::rivals::real_gpus(options));
    replay = value_of(value_of(study::rivals::RivalInputs::read(options)).replay(*preset, real));
  }
  const auto& summary = replay.summary;
  nb::dict counts;
  counts["mean_jct_s"] = summary.mean_jct_s;
  counts["makespan_s"] = summary.makespan_s;
  counts["decisions"] = summary.decisions;
  counts["shares"] = std::string(summary.shares);
  return nb::make_tuple(job_columns(replay.jobs), decision_columns(replay), counts);
}

/// The files of Shockwave's replay, for many runs on real GPUs.
struct RealRuns {
  study::rivals::RivalInputs inputs;
};

RealRuns read_real_runs(const std::string& trace, const std::string& rates,
                        const std::string& batch_sizes, const std::string& cluster) {
  const study::rivals::RivalOptions options{.cluster = cluster,
                                            .format = "shockwave",
                                            .jobs = trace,
                                            .rates = rates,
                                            .batch_sizes = batch_sizes};
  return {.inputs = value_of(study::rivals::RivalInputs::read(options))};
}

/// JCTs by job, and the makespan.
nb::tuple real_run(const RealRuns& runs, const std::string& policy, std::vector<double> restart_s,
                   std::vector<double> speed, uint64_t seed) {
  const study::rivals::RealGpus real{
      .restart_s = std::move(restart_s), .speed = std::move(speed), .seed = seed};
  RivalReplay replay;
  {
    const nb::gil_scoped_release release;
    const auto preset =
        value_of(study::rivals::find_rival(policy, study::rivals::RivalFormat::Shockwave));
    replay = value_of(runs.inputs.replay(*preset, real));
  }
  const nb::object jct_s = column<double, Reals>(
      replay.jobs, [](const RivalJob& job) { return job.finish_s - job.submit_s; });
  return nb::make_tuple(jct_s, replay.summary.makespan_s);
}

std::vector<std::string> rival_names() {
  std::vector<std::string> out;
  for (const auto& preset : study::rivals::rival_presets()) out.emplace_back(preset.name);
  return out;
}

}  // namespace

void bind_rivals(nb::module_& module) {
  module.def("replay_rival", replay_rival, nb::arg("policy"), nb::arg("trace"), nb::arg("rates"),
             nb::arg("cluster"), nb::arg("batch_sizes"), nb::arg("shares"),
             nb::arg("restart_cost_s").none());
  module.def("rival_names", rival_names);
  nb::class_<RealRuns>(module, "RealRuns")
      .def_prop_ro("jobs", [](const RealRuns& runs) { return runs.inputs.num_jobs(); })
      .def("run", real_run, nb::arg("policy"), nb::arg("restart_s"), nb::arg("speed"),
           nb::arg("seed"));
  module.def("read_real_runs", read_real_runs, nb::arg("trace"), nb::arg("rates"),
             nb::arg("batch_sizes"), nb::arg("cluster"));
}

}  // namespace goban::lab

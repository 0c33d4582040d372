// The module goban_lab._core: traces, clusters and runs. What is friendly is in Python.
#include <algorithm>
#include <memory>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrow.hpp"
#include "base/byte_source.hpp"
#include "base/text_file.hpp"
#include "columns.hpp"
#include "core/model/cluster_file.hpp"
#include "core/model/cluster_presets.hpp"
#include "core/policy/compose.hpp"
#include "episodes.hpp"
#include "inputs.hpp"
#include "python_methods.hpp"
#include "rivals.hpp"
#include "study/history/generate/philly.hpp"
#include "study/history/generate/poisson.hpp"
#include "study/history/job_reader.hpp"
#include "study/history/resample.hpp"
#include "study/lab/lab.hpp"
#include "study/lab/plugin.hpp"
#include "study/lab/sample.hpp"

namespace goban::lab {
namespace {

using core::model::Cluster;
using core::model::JobHistory;

Cluster make_cluster(const std::string& text) {
  const bool file = text.ends_with(".toml") || text.find('/') != std::string::npos;
  if (!file) return value_of(core::model::make_preset(text));
  return value_of(core::model::parse_cluster(value_of(base::read_text_file(text)), text));
}

Trace trace_of(study::history::ReadResult read, const std::string& name) {
  Trace trace;
  if (read.rejected > 0) {
    trace.notes.push_back(site::records::rejections_text(read, name, ""));
  }
  if (read.counts.cpu_jobs_left_out > 0) {
    trace.notes.push_back(std::to_string(read.counts.cpu_jobs_left_out) +
                          " jobs without GPUs are left out");
  }
  if (read.counts.never_started > 0) {
    trace.notes.push_back(std::to_string(read.counts.never_started) +
                          " jobs that never started are left out");
  }
  if (read.history.jobs.empty()) throw LabError(name + ": no job remains");
  trace.history = std::make_shared<JobHistory>(std::move(read.history));
  return trace;
}

/// Without rates, a job with a range of GPUs runs on those that it requests.
void note_ranges(Trace& trace) {
  const auto count = std::ranges::count_if(
      trace.history->training,
      [](const core::model::TrainingFacts& facts) { return facts.gpus_max > 0; });
  if (count == 0) return;
  trace.notes.push_back(std::to_string(count) +
                        " jobs state a range of GPUs; without rates they run on num_gpus");
}

Trace read_trace(const std::string& path, const std::string& format, const Cluster* cluster,
                 const std::string& rates, bool interpolate) {
  study::history::ReadOptions options;
  options.format = format;
  options.cluster = cluster;
  const nb::gil_scoped_release release;
  std::shared_ptr<study::lab::Rates> read_rates;
  if (!rates.empty()) {
    read_rates =
        std::make_shared<study::lab::Rates>(value_of(study::lab::read_rates(rates, interpolate)));
  }
  study::history::ReadResult read = value_of(study::history::read_jobs(path, options));
  if (read_rates) read_rates->elasticflow = read.format == "elasticflow";
  Trace trace = trace_of(std::move(read), path);
  trace.rates = read_rates;
  if (!read_rates) note_ranges(trace);
  return trace;
}

Trace generate(const std::string& like, int64_t jobs, int64_t gpus, double load, uint64_t seed,
               bool limits) {
  std::string text;
  const auto sink = [&](std::string_view piece) { text += piece; };
  const nb::gil_scoped_release release;
  base::Status status;
  if (like == "philly") {
    status = study::history::generate_philly({.seed = seed, .num_jobs = jobs}, sink);
  } else if (like == "poisson") {
    study::history::PoissonOptions options;
    options.seed = seed;
    options.num_jobs = jobs;
    options.cluster_gpus = gpus;
    options.load = load;
    options.walltimes = limits;
    status = study::history::generate_poisson(options, sink);
  } else {
    throw LabError("unknown kind of jobs '" + like + "': philly or poisson");
  }
  if (!status) throw LabError(status.error().text());
  base::MemorySource source(text, SIZE_MAX);
  return trace_of(value_of(study::history::read_jobs(source, like, {})), like);
}

Trace picked(const Trace& trace, const std::vector<study::lab::Pick>& picks) {
  return {.history = std::make_shared<JobHistory>(study::lab::take_jobs(*trace.history, picks)),
          .rates = trace.rates};
}

study::lab::RunOptions options_of(Run& run, uint64_t seed, std::optional<double> restart_cost_s,
                                  std::optional<double> round_s,
                                  std::optional<double> locality_penalty, bool actions) {
  return {.seed = seed,
          .restart_cost_s = restart_cost_s,
          .round_s = round_s,
          .locality_penalty = locality_penalty,
          .fitted = run.jobs.fitted.get(),
          .observer = actions ? &run.actions.emplace() : nullptr};
}

Run simulate_named(const Trace& trace, const Cluster& cluster, const std::string& policy,
                   uint64_t seed, std::optional<double> restart_cost_s,
                   std::optional<double> round_s, std::optional<double> locality_penalty,
                   bool actions) {
  const nb::gil_scoped_release release;
  Run run{.jobs = {trace, cluster}};
  auto options = options_of(run, seed, restart_cost_s, round_s, locality_penalty, actions);
  run.result = value_of(study::lab::run(*run.jobs.history, cluster, policy, options));
  return run;
}

/// What a policy in Python states about itself.
study::lab::PolicyText policy_text(const nb::dict& stated) {
  study::lab::PolicyText out;
  out.name = nb::cast<std::string>(stated["name"]);
  out.parts = nb::cast<std::string>(stated["parts"]);
  const auto methods = nb::cast<std::vector<std::string>>(stated["methods"]);
  const auto has = [&](const char* name) { return std::ranges::count(methods, name) > 0; };
  out.methods = {.order = has("order"),
                 .preempt = has("preempt"),
                 .select = has("select"),
                 .place = has("place"),
                 .size = has("size")};
  const auto when = nb::cast<std::string>(stated["when"]);
  using study::lab::KeyTime;
  out.when = when == "arrival" ? KeyTime::Arrival
             : when == "event" ? KeyTime::Event
                               : KeyTime::Every;
  out.every_s = nb::cast<double>(stated["every_s"]);
  out.places_anywhere = nb::cast<bool>(stated["places_anywhere"]);
  out.oracle = nb::cast<bool>(stated["oracle"]);
  return out;
}

Run simulate_methods(const Trace& trace, const Cluster& cluster, const nb::dict& stated,
                     nb::object policy, nb::object rng, Where& where, uint64_t seed,
                     std::optional<double> restart_cost_s, std::optional<double> round_s,
                     std::optional<double> locality_penalty, bool actions) {
  const study::lab::PolicyText text = policy_text(stated);
  Run run{.jobs = {trace, cluster}};
  const JobHistory& history = *run.jobs.history;
  PythonMethods methods(std::move(policy), std::move(rng), history, text.oracle, where);
  auto options = options_of(run, seed, restart_cost_s, round_s, locality_penalty, actions);
  run.result = value_of(study::lab::run(history, cluster, text, methods, options));
  return run;
}

/// A library of policies.
struct Library {
  study::lab::Plugin plugin;
};

Library load_plugin(const std::string& path) {
  return {.plugin = value_of(study::lab::Plugin::load(path))};
}

Run simulate_plugin(const Trace& trace, const Cluster& cluster, const Library& library,
                    const std::string& policy, uint64_t seed, std::optional<double> restart_cost_s,
                    std::optional<double> round_s, std::optional<double> locality_penalty,
                    bool actions) {
  const study::lab::PluginPolicy* const found = library.plugin.find(policy);
  if (found == nullptr) throw LabError("the library has no policy " + policy);
  const nb::gil_scoped_release release;
  Run run{.jobs = {trace, cluster}};
  const JobHistory& history = *run.jobs.history;
  study::lab::PluginMethods methods(*found, history, seed);
  auto options = options_of(run, seed, restart_cost_s, round_s, locality_penalty, actions);
  run.result = value_of(study::lab::run(history, cluster, found->text, methods, options));
  return run;
}

void bind_plugins(nb::module_& m) {
  nb::class_<Library>(m, "Library")
      .def_prop_ro("names",
                   [](const Library& library) {
                     std::vector<std::string> names;
                     for (const auto& each : library.plugin.policies()) {
                       names.push_back(each.text.name);
                     }
                     return names;
                   })
      .def("is_oracle", [](const Library& library, const std::string& policy) {
        const study::lab::PluginPolicy* const found = library.plugin.find(policy);
        return found != nullptr && found->text.oracle;
      });
  m.def("load_plugin", load_plugin, nb::arg("path"));
  m.def("simulate_plugin", simulate_plugin, nb::arg("trace"), nb::arg("cluster"),
        nb::arg("library"), nb::arg("policy"), nb::arg("seed"), nb::arg("restart_cost_s").none(),
        nb::arg("round_s").none(), nb::arg("locality_penalty").none(), nb::arg("actions"));
}

bool sees_durations(const std::string& policy, const Trace& trace) {
  return study::lab::uses_durations(value_of(core::policy::compose(policy)), *trace.history,
                                    trace.rates != nullptr);
}

/// Fails where a job of the trace has no speed on the cluster.
void check_rates(const Trace& trace, const Cluster& cluster) {
  const nb::gil_scoped_release release;
  (void)Fitting(trace, cluster);
}

/// The kind of a part; empty if there is no part of this name.
std::string part_kind(const std::string& name) {
  const auto* part = core::policy::find_part(core::policy::current_name(name));
  return part == nullptr ? "" : std::string(core::policy::kind_name(part->kind));
}

void bind_inputs(nb::module_& m) {
  nb::class_<Cluster>(m, "Cluster")
      .def_prop_ro("name", [](const Cluster& c) { return c.name(); })
      .def_prop_ro("gpus", [](const Cluster& c) { return c.num_gpus(); })
      .def_prop_ro("nodes", [](const Cluster& c) { return c.nodes().size(); })
      .def_prop_ro("node_gpus",
                   [](const Cluster& c) {
                     std::vector<int32_t> out;
                     for (const auto& node : c.nodes()) {
                       out.push_back(static_cast<int32_t>(node.num_gpus));
                     }
                     return array_of<Wholes>(std::move(out));
                   })
      .def_prop_ro(
          "gpu_node",
          [](const Cluster& c) {
            std::vector<int32_t> out;
            for (uint32_t gpu = 0; gpu < c.num_gpus(); ++gpu) {
              out.push_back(static_cast<int32_t>(c.node_of(core::model::GpuId(gpu)).value));
            }
            return array_of<Wholes>(std::move(out));
          })
      .def_prop_ro("node_model", [](const Cluster& c) {
        std::vector<std::string> out;
        for (const auto& node : c.nodes()) out.push_back(c.gpu_models()[node.gpu_model].name);
        return out;
      });
  m.def("cluster", make_cluster, nb::arg("name"));

  nb::class_<Trace>(m, "Trace")
      .def("__len__", [](const Trace& t) { return t.history->jobs.size(); })
      .def_prop_ro("notes", [](const Trace& t) { return t.notes; })
      .def_prop_ro("has_limits", [](const Trace& t) { return t.history->has_walltime_limits; })
      .def("job_name",
           [](const Trace& t, size_t job) { return std::string(t.history->job_names[job]); })
      .def_prop_ro(
          "span_s",
          [](const Trace& t) {
            const auto& jobs = t.history->jobs;
            return base::to_seconds(jobs.back().request.submit_ns - jobs.front().request.submit_ns);
          })
      .def("columns", [](const Trace& t) { return trace_columns(*t.history); })
      .def("first",
           [](const Trace& t, double span_s) {
             return picked(t, study::lab::first_jobs(*t.history, base::from_seconds(span_s)));
           })
      .def("resampled", [](const Trace& t, double block_s, uint64_t seed) {
        return picked(t,
                      study::history::drawn_blocks(*t.history, base::from_seconds(block_s), seed));
      });
  m.def("read_trace", read_trace, nb::arg("path"), nb::arg("format"), nb::arg("cluster").none(),
        nb::arg("rates"), nb::arg("interpolate"));
  m.def("generate", generate);
}

}  // namespace

NB_MODULE(_core, m) {
  nb::exception<LabError>(m, "LabError", PyExc_ValueError);
  static nb::object fault_type =
      nb::steal(PyErr_NewException("goban_lab._core.Fault", PyExc_Exception, nullptr));
  m.attr("Fault") = fault_type;
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const study::lab::Fault& fault) {
      const nb::object job = fault.job.valid() ? nb::cast(fault.job.value) : nb::none();
      const nb::object at_s =
          fault.at_ns >= 0 ? nb::cast(base::to_seconds(fault.at_ns)) : nb::none();
      const nb::tuple arguments =
          nb::make_tuple(fault.method, fault.problem, fault.remedy, job, at_s);
      PyErr_SetObject(fault_type.ptr(), arguments.ptr());
    }
  });
  bind_views(m);
  bind_inputs(m);
  bind_episodes(m);
  bind_rivals(m);
  nb::class_<Where>(m, "Where")
      .def(nb::init<>())
      .def_ro("method", &Where::method)
      .def_prop_ro("job",
                   [](const Where& w) {
                     return w.job == UINT32_MAX ? nb::none() : nb::object(nb::int_(w.job));
                   })
      .def_prop_ro(
          "at_s",
          [](const Where& w) { return w.at_s < 0 ? nb::none() : nb::object(nb::float_(w.at_s)); })
      .def_ro("calls", &Where::calls);
  nb::class_<Run>(m, "Run")
      .def("columns", run_columns)
      .def("action_columns", action_columns)
      .def_prop_ro("notes",
                   [](const Run& r) {
                     return r.jobs.fitted ? r.jobs.fitted->notes : std::vector<std::string>{};
                   })
      .def_prop_ro("decisions", [](const Run& r) { return r.result.decisions; })
      .def_prop_ro("starts", [](const Run& r) { return r.result.starts; })
      .def_prop_ro("busy_gpu_s", [](const Run& r) { return r.result.busy_gpu_s; })
      .def_prop_ro("end_s", [](const Run& r) { return base::to_seconds(r.result.end_ns); });
  m.def("simulate_named", simulate_named, nb::arg("trace"), nb::arg("cluster"), nb::arg("policy"),
        nb::arg("seed"), nb::arg("restart_cost_s").none(), nb::arg("round_s").none(),
        nb::arg("locality_penalty").none(), nb::arg("actions"));
  m.def("simulate_methods", simulate_methods, nb::arg("trace"), nb::arg("cluster"),
        nb::arg("stated"), nb::arg("policy"), nb::arg("rng").none(), nb::arg("where"),
        nb::arg("seed"), nb::arg("restart_cost_s").none(), nb::arg("round_s").none(),
        nb::arg("locality_penalty").none(), nb::arg("actions"));
  bind_plugins(m);
  m.def("arrow_stream", arrow_stream);
  m.def("sees_durations", sees_durations);
  m.def("check_rates", check_rates);
  m.def("part_kind", part_kind);
}

}  // namespace goban::lab

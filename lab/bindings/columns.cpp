#include "columns.hpp"

#include <algorithm>

namespace goban::lab {

using core::model::JobHistory;
using study::simulator::JobEnd;

namespace {

/// A column of a trace: `value` of each job.
template <typename T, typename Array>
nb::object column(const JobHistory& history, auto value) {
  std::vector<T> out;
  out.reserve(history.jobs.size());
  for (size_t i = 0; i < history.jobs.size(); ++i) out.push_back(value(history.jobs[i], i));
  return array_of<Array>(std::move(out));
}

/// The sizes that jobs had; of a job that is not elastic, the GPUs that it requests.
void add_sizes(const Run& run, nb::dict& out) {
  const JobHistory& history = *run.jobs.history;
  const auto sizes = [&](int32_t study::simulator::ElasticOutcome::* value, bool of_all) {
    return column<int32_t, Wholes>(history, [&](const core::model::Job& job, size_t i) {
      const auto each = run.result.elastic_of(i);
      return of_all || each.gpus_min > 0 ? each.*value : job.request.num_gpus;
    });
  };
  using study::simulator::ElasticOutcome;
  out["resizes"] = sizes(&ElasticOutcome::resizes, true);
  out["gpus_least"] = sizes(&ElasticOutcome::gpus_min, false);
  out["gpus_most"] = sizes(&ElasticOutcome::gpus_max, false);
  out["gpu_hours"] = column<double, Reals>(history, [&](const core::model::Job& job, size_t i) {
    return run.result.held_gpu_s(i, job.request.num_gpus) / 3600;
  });
  out["interpolated"] = column<int32_t, Wholes>(history, [&](const core::model::Job&, size_t i) {
    return run.result.elastic_of(i).interpolated ? 1 : 0;
  });
}

}  // namespace

nb::dict trace_columns(const JobHistory& history) {
  nb::dict out;
  nb::list names;
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const std::string_view name = history.job_names[i];
    names.append(nb::str(name.data(), name.size()));
  }
  out["job"] = names;
  using core::model::Job;
  out["submit_s"] = column<double, Reals>(
      history, [](const Job& job, size_t) { return base::to_seconds(job.request.submit_ns); });
  out["gpus"] =
      column<int32_t, Wholes>(history, [](const Job& job, size_t) { return job.request.num_gpus; });
  out["user"] = column<int32_t, Wholes>(history, [](const Job& job, size_t) {
    return job.request.user.valid() ? static_cast<int32_t>(job.request.user.value) : -1;
  });
  out["limit_s"] = column<double, Reals>(history, [](const Job& job, size_t) {
    return base::to_seconds(job.request.walltime_limit_ns);
  });
  out["duration_s"] =
      column<double, Reals>(history, [](const Job& job, size_t) { return job.work_s; });
  return out;
}

nb::dict run_columns(const Run& run) {
  const JobHistory& history = *run.jobs.history;
  const auto& outcomes = run.result.outcomes;
  nb::dict out = trace_columns(history);
  using core::model::Job;
  const auto seconds = [&](auto value) {
    return column<double, Reals>(
        history, [&](const Job& job, size_t i) { return base::to_seconds(value(job, i)); });
  };
  out["start_s"] = seconds([&](const Job&, size_t i) { return outcomes[i].start_ns; });
  out["finish_s"] = seconds([&](const Job&, size_t i) { return outcomes[i].finish_ns; });
  out["jct_s"] = seconds(
      [&](const Job& job, size_t i) { return outcomes[i].finish_ns - job.request.submit_ns; });
  out["wait_s"] = seconds([&](const Job& job, size_t i) {
    return outcomes[i].finish_ns - job.request.submit_ns - outcomes[i].held_ns;
  });
  out["held_s"] = seconds([&](const Job&, size_t i) { return outcomes[i].held_ns; });
  out["preemptions"] = column<int32_t, Wholes>(
      history, [&](const Job&, size_t i) { return outcomes[i].preemptions; });
  out["timed_out"] = column<int32_t, Wholes>(
      history, [&](const Job&, size_t i) { return outcomes[i].end == JobEnd::TimedOut ? 1 : 0; });
  if (!run.result.elastic.empty()) add_sizes(run, out);
  return out;
}

nb::object action_columns(const Run& run) {
  if (!run.actions) return nb::none();
  std::vector<double> at_s;
  std::vector<int32_t> jobs;
  nb::list names;
  for (const auto& row : run.actions->rows()) {
    at_s.push_back(base::to_seconds(row.at_ns));
    jobs.push_back(static_cast<int32_t>(row.job.value));
    names.append(nb::str(study::lab::happening_name(row.happening)));
  }
  nb::dict out;
  out["at_s"] = array_of<Reals>(std::move(at_s));
  out["job"] = array_of<Wholes>(std::move(jobs));
  out["action"] = names;
  out["gpus"] = nb::make_tuple(array_of<Wholes>(std::vector<int32_t>(run.actions->offsets())),
                               array_of<Wholes>(std::vector<int32_t>(run.actions->gpus())));
  return out;
}

}  // namespace goban::lab

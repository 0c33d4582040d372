// Any bytes are accepted as a job history: every record is either taken within the limits of the
// cluster or counted as rejected, independent of block boundaries. A history that was read can be
// summarised, and written as generic CSV that reads back equal.
#include "study/history/job_reader.hpp"

#include <algorithm>
#include <cstdint>

#include "base/check.hpp"
#include "core/model/cluster_file.hpp"
#include "site/records/record_format.hpp"
#include "study/history/summary.hpp"
#include "study/history/write_generic.hpp"

namespace {

using goban::study::history::ReadResult;

constexpr auto kKept = goban::study::history::CpuJobs::Keep;

const goban::core::model::Cluster& small_cluster() {
  static const goban::core::model::Cluster cluster = *goban::core::model::parse_cluster(
      "[[nodes]]\ncount = 4\ngpus = 4\ncores = 8\n"
      "[[resource_type]]\nname = \"Full\"\ngpus = 4\ncores = 8\nmax_instances = 3\n"
      "walltime_max = 100\nwalltime_default = 10\n"
      "[[resource_type]]\nname = \"C\"\ncores = 2\nmax_instances = 99\n",
      "fuzz cluster");
  return cluster;
}

void check_result(const ReadResult& result, const goban::core::model::Cluster* cluster) {
  const auto& jobs = result.history.jobs;
  GOBAN_CHECK(result.rejected <= result.records);
  GOBAN_CHECK(result.history.job_names.size() == jobs.size());
  const auto& recorded = result.history.recorded;
  GOBAN_CHECK(recorded.empty() || recorded.size() == jobs.size());
  const auto& training = result.history.training;
  GOBAN_CHECK(training.empty() || training.size() == jobs.size());
  for (size_t i = 0; i < recorded.size(); ++i) {
    GOBAN_CHECK(recorded[i].start_ns == -1 || recorded[i].start_ns >= jobs[i].request.submit_ns);
  }
  GOBAN_CHECK(std::ranges::is_sorted(
      jobs, {}, [](const goban::core::model::Job& job) { return job.request.submit_ns; }));
  for (const auto& job : jobs) {
    GOBAN_CHECK(job.work_s >= 0 && job.request.submit_ns >= 0);
    GOBAN_CHECK(job.request.num_gpus >= 0);
    GOBAN_CHECK(cluster == nullptr || job.request.num_gpus <= 16);
    GOBAN_CHECK(cluster == nullptr || job.request.num_gpus > 0 ||
                job.request.resource_type.valid());
    GOBAN_CHECK(job.request.model.index() < result.history.models.size());
    GOBAN_CHECK(job.request.user.index() < result.history.users.size());
  }
}

/// Written as generic CSV and read again, the history is the same.
void check_round_trip(const ReadResult& result, const goban::core::model::Cluster* cluster) {
  const auto written = [cluster](const goban::core::model::JobHistory& jobs) {
    std::string out;
    goban::study::history::write_generic(jobs, cluster,
                                         [&out](std::string_view text) { out += text; });
    return out;
  };
  const std::string first = written(result.history);
  goban::study::history::ReadOptions options;
  options.format = "generic";
  options.cluster = cluster;
  options.cpu_jobs = kKept;
  goban::base::MemorySource source(first);
  const auto again = goban::study::history::read_jobs(source, "again.csv", options);
  GOBAN_CHECK(again.has_value() && again->rejected == 0 && !again->unsorted);
  GOBAN_CHECK(again->history.jobs.size() == result.history.jobs.size());
  GOBAN_CHECK(written(again->history) == first);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto formats = goban::site::records::record_formats();
  for (const std::string_view format : {std::string_view(), formats[size % formats.size()].name}) {
    goban::study::history::ReadOptions options;
    options.format = format;
    options.cluster = size % 2 == 0 ? &small_cluster() : nullptr;
    options.cpu_jobs = kKept;
    options.procs_per_gpu = 3;
    options.jobs_max = 1000;
    goban::base::MemorySource whole(text);
    const auto result = goban::study::history::read_jobs(whole, "fuzz.csv", options);
    if (result) {
      check_result(*result, options.cluster);
      check_round_trip(*result, options.cluster);
      GOBAN_CHECK(goban::study::history::summarise(result->history).jobs ==
                  static_cast<int64_t>(result->history.jobs.size()));
    }
    goban::base::MemorySource pieces(text, 7);
    const auto again = goban::study::history::read_jobs(pieces, "fuzz.csv", options);
    GOBAN_CHECK(result.has_value() == again.has_value());
    if (!result) continue;
    GOBAN_CHECK(result->records == again->records && result->rejected == again->rejected);
    GOBAN_CHECK(result->history.jobs.size() == again->history.jobs.size());
  }
  return 0;
}

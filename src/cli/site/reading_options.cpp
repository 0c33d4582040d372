#include "cli/site/reading_options.hpp"

#include <map>
#include <string>

#include "site/records/record_format.hpp"
#include "site/store/job_store.hpp"

namespace goban::cli {

void add_reading_options(Command& c, ReadingArguments& arguments) {
  c.add_option(
      "--format", arguments.format,
      "Format; told by the first line if left out: " + site::records::list_record_formats());
  c.add_option("--procs-per-gpu", arguments.procs_per_gpu,
               "Format swf: processors that stand for one GPU")
      ->range(int64_t{1}, int64_t{1} << 24);
  c.add_option("--zone", arguments.site.zone,
               "Zone of times that name none: UTC (default), +09:00, Asia/Tokyo");
  c.add_option("--gpu-resource", arguments.site.gpu_resources,
               "Format grid-engine: resources that are GPUs, NAME=GPUS[:TYPE][*slots|*hosts]");
  c.add_choice<site::records::GridRunTime>(
      "--ru-wallclock", arguments.site.run_time,
      {{"s", site::records::GridRunTime::WallclockSeconds},
       {"ms", site::records::GridRunTime::WallclockMilliseconds}},
      "Format grid-engine: run times are ru_wallclock, in 's' or 'ms', not end - start");
  c.add_option("--gpus-per-node", arguments.site.gpus_per_node,
               "Format slurm, where accounting counts no GPUs: PARTITION=GPUS of a node");
}

base::Result<site::records::ReadSummary> read_records_input(
    const std::string& location, const site::records::ReadOptions& options,
    site::records::RecordSink& sink) {
  if (!site::store::is_store_location(location))
    return site::records::read_records(location, options, sink);
  auto jobs = site::store::JobStore::open(location, false);
  if (!jobs) return base::failure(jobs.error());
  return jobs->read({}, sink, options.rejects_path);
}

base::Result<study::history::ReadResult> read_history_input(
    const std::string& location, const study::history::ReadOptions& options) {
  if (!site::store::is_store_location(location))
    return study::history::read_jobs(location, options);
  return study::history::read_jobs(
      [&](site::records::RecordSink& sink) { return read_records_input(location, options, sink); },
      options);
}

}  // namespace goban::cli

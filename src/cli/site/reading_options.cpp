#include "cli/site/reading_options.hpp"

#include <string>

#include "site/records/record_format.hpp"

namespace goban::cli {

void add_reading_options(Command& c, site::records::ReadOptions& reading) {
  c.add_option("--format", reading.format,
               "Input format (default: detected from the first line): " +
                   site::records::list_record_formats());
  c.add_option("--procs-per-gpu", reading.procs_per_gpu,
               "Format swf: number of processors that represent one GPU")
      ->range(int64_t{1}, int64_t{1} << 24);
  c.add_option(
      "--zone", reading.site.zone,
      "Time zone of timestamps that have none (default UTC), such as +09:00 or Asia/Tokyo");
  c.add_option("--gpu-resource", reading.site.gpu_resources,
               "Format grid-engine: resources that grant GPUs, NAME=GPUS[:TYPE][*slots|*hosts]")
      ->type_name("RESOURCE");
  c.add_choice<site::records::GridRunTime>(
      "--ru-wallclock", reading.site.run_time,
      {{"s", site::records::GridRunTime::WallclockSeconds},
       {"ms", site::records::GridRunTime::WallclockMilliseconds}},
      "Format grid-engine: use ru_wallclock, in 's' or 'ms', as the run time instead of end - "
      "start");
  c.add_option("--gpus-per-node", reading.site.gpus_per_node,
               "Format slurm, if the records contain no GPU counts: PARTITION=GPUs per node");
}

void add_max_rejects(Command& c, double& max_rejects_pct) {
  c.add_option("--max-rejects", max_rejects_pct,
               "Percent of the records that may be rejected; beyond it the exit code is 3")
      ->type_name("PERCENT")
      ->range(0.0, 100.0)
      ->capture_default_str();
}

}  // namespace goban::cli

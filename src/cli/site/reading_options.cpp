#include "cli/site/reading_options.hpp"

#include <string>

#include "site/records/record_format.hpp"

namespace goban::cli {

void add_reading_options(Command& c, site::records::ReadOptions& reading) {
  c.add_option(
      "--format", reading.format,
      "Format; told by the first line if left out: " + site::records::list_record_formats());
  c.add_option("--procs-per-gpu", reading.procs_per_gpu,
               "Format swf: processors that stand for one GPU")
      ->range(int64_t{1}, int64_t{1} << 24);
  c.add_option("--zone", reading.site.zone,
               "Zone of times that name none: UTC (default), +09:00, Asia/Tokyo");
  c.add_option("--gpu-resource", reading.site.gpu_resources,
               "Format grid-engine: resources that are GPUs, NAME=GPUS[:TYPE][*slots|*hosts]");
  c.add_choice<site::records::GridRunTime>(
      "--ru-wallclock", reading.site.run_time,
      {{"s", site::records::GridRunTime::WallclockSeconds},
       {"ms", site::records::GridRunTime::WallclockMilliseconds}},
      "Format grid-engine: run times are ru_wallclock, in 's' or 'ms', not end - start");
  c.add_option("--gpus-per-node", reading.site.gpus_per_node,
               "Format slurm, where accounting counts no GPUs: PARTITION=GPUS of a node");
}

}  // namespace goban::cli

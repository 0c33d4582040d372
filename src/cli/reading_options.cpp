#include "cli/reading_options.hpp"

#include "records/record_format.hpp"

namespace goban::cli {

void add_reading_options(CLI::App& c, ReadingArguments& arguments) {
  c.add_option("--format", arguments.format,
               "Format; told by the first line if left out: " + records::list_record_formats());
  c.add_option("--procs-per-gpu", arguments.procs_per_gpu,
               "Format swf: processors that stand for one GPU")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 24));
  c.add_option("--zone", arguments.site.zone,
               "Zone of times that name none: UTC (default), +09:00, Asia/Tokyo");
  c.add_option("--gpu-resource", arguments.site.gpu_resources,
               "Format grid-engine: resources that are GPUs, NAME=GPUS[:TYPE][*slots|*hosts]");
  c.add_option("--gpus-per-node", arguments.site.gpus_per_node,
               "Format slurm, where accounting counts no GPUs: PARTITION=GPUS of a node");
}

}  // namespace goban::cli

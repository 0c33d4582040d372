// goban measure-block: the short-lived process of `goban profile` that runs the kernels on one GPU.
// Hidden: users do not need it.
#include <fmt/format.h>

#include "cli/gpus/commands.hpp"
#include "live/machine/block_process.hpp"
#include "live/machine/cpu_kernels.hpp"
#include "live/machine/cuda_kernels.hpp"

namespace goban::cli {
namespace {

struct BlockArguments {
  int runs = 3;
  std::vector<int32_t> cpus;
  double slowness = 1;
  bool cuda = false;
};

base::Result<live::machine::KernelRuns> run_kernels(const BlockArguments& arguments) {
  if (!arguments.cuda) {
    return live::machine::run_cpu_kernels(arguments.cpus, arguments.slowness, arguments.runs);
  }
  const auto driver = live::machine::CudaDriver::load();
  if (!driver) return base::failure(driver.error());
  return live::machine::run_cuda_kernels(**driver, arguments.runs);
}

int measure(const BlockArguments& arguments) {
  live::machine::die_with_parent();
  const auto runs = run_kernels(arguments);
  if (!runs) {
    fmt::print(stderr, "{}\n", runs.error().text());
    return static_cast<int>(runs.error().code);
  }
  fmt::print("{}", live::machine::to_text(*runs));
  return 0;
}

}  // namespace

void add_measure_block(Command& app, Action& action) {
  auto arguments = std::make_shared<BlockArguments>();
  Command* command =
      app.add_subcommand("measure-block", "Run the profiler's kernels; started by goban profile");
  command->group("");
  command->add_option("--runs", arguments->runs, "Number of runs of each kernel")->range(1, 1000);
  auto* cuda = command->add_flag("--cuda", arguments->cuda, "Run on CUDA device 0");
  command->add_option("--cpus", arguments->cpus, "Run on these cores")
      ->delimiter(',')
      ->excludes(cuda);
  command->add_option("--slowness", arguments->slowness, "Factor on the amount of work")
      ->range(0.1, 1000.0);
  command->callback([arguments, &action] {
    if (!arguments->cuda && arguments->cpus.empty()) {
      refuse_value("--cpus", "this option or --cuda is required");
    }
    action = [arguments] { return measure(*arguments); };
  });
}

}  // namespace goban::cli

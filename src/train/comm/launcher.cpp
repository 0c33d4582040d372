#include "train/comm/launcher.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>

#include "base/number.hpp"

namespace goban::train::comm {
namespace {

bool is_set(const char* name) { return std::getenv(name) != nullptr; }

int environment_number(const char* name, int fallback) {
  const char* text = std::getenv(name);
  if (text == nullptr) return fallback;
  const auto number = base::parse_int(text);
  return number ? static_cast<int>(*number) : fallback;
}

}  // namespace

bool launched_by_mpi() {
  constexpr std::array kSetByLaunchersOnly = {"PMIX_RANK", "PMI_RANK", "PMI_SIZE",
                                              "OMPI_MCA_ess_base_jobid"};
  return std::ranges::any_of(kSetByLaunchersOnly, is_set) ||
         environment_number("OMPI_COMM_WORLD_SIZE", 1) > 1;
}

int launcher_local_rank() {
  return environment_number("OMPI_COMM_WORLD_LOCAL_RANK", environment_number("SLURM_LOCALID", 0));
}

base::Status check_srun(int world_size) {
  const int tasks = environment_number("SLURM_STEP_NUM_TASKS", 1);
  // Under mpirun the Slurm step consists of mpirun's daemons, one per node.
  if (world_size > 1 || tasks <= 1 || is_set("OMPI_MCA_ess_base_jobid")) return {};
  return base::usage_error(
      fmt::format("srun started {} tasks, but MPI sees only this one", tasks),
      "use srun --mpi=pmix (srun --mpi=list shows the plugins of this Slurm), or mpirun inside "
      "salloc or sbatch");
}

}  // namespace goban::train::comm

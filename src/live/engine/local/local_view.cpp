#include "live/engine/local/local_view.hpp"

#include <utility>

#include "live/engine/local/run_status.hpp"

namespace goban::live::engine::local {

LocalView::LocalView(std::string state, std::vector<base::gpus::LocalGpu> gpus,
                     std::shared_ptr<const base::gpus::NvmlLibrary> nvml)
    : state_(std::move(state)), watch_(state_, std::move(gpus), std::move(nvml)) {}

std::vector<base::gpus::GpuReading> LocalView::read_gpus(const std::vector<HoldingRun>& holding,
                                                         base::TimeNs now_ns) {
  return watch_.read(holding, now_ns);
}

std::vector<RankTimes> LocalView::rank_times(RunId run) const {
  return local::rank_times(state_, run);
}

std::string LocalView::terminal_socket(RunId run) const {
  return local::terminal_socket(state_, run);
}

}  // namespace goban::live::engine::local

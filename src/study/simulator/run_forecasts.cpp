#include "study/simulator/run_forecasts.hpp"

namespace goban::study::simulator {

using core::knowledge::DurationTraits;

DurationTraits duration_traits(const core::model::JobHistory& history,
                               const core::model::JobRequest& request) {
  const auto known = [](const base::NameTable& names, auto id) {
    return id.valid() && !names[id.index()].empty() ? id : decltype(id){};
  };
  return {.user = known(history.users, request.user),
          .account = known(history.accounts, request.account),
          .partition = known(history.partitions, request.partition),
          .name = known(history.models, request.model),
          .num_gpus = request.num_gpus,
          .limit_s = base::to_seconds(request.walltime_limit_ns)};
}

}  // namespace goban::study::simulator

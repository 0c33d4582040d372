#include "train/trainer/stopping.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace goban::train::trainer {

std::atomic<bool> stop_requested = false;

base::Result<bool> agreed_to_stop(comm::Communicator& end) {
  std::array<int64_t, 1> stop = {stop_requested ? 1 : 0};
  const auto status =
      end.all_reduce(comm::whole_world(end.size()), std::as_writable_bytes(std::span(stop)),
                     comm::Element::I64, comm::Reduction::Max, "stop?");
  if (!status) return base::failure(status.error());
  return stop[0] != 0;
}

}  // namespace goban::train::trainer

#include "serve/api/look_ahead.hpp"

namespace goban::serve::api {

bool can_look_ahead(const live::loop::SchedulerSnapshot& snapshot) {
  constexpr size_t kWaitingMax = 20'000;
  return snapshot.core != nullptr && snapshot.core->num_waiting() <= kWaitingMax;
}

AheadState copy_for_ahead(const live::loop::SchedulerSnapshot& snapshot) {
  AheadState out;
  out.image = snapshot.core->image();
  out.cluster = snapshot.site.cluster;
  out.scores = snapshot.site.scores;
  out.penalties = snapshot.site.penalties;
  out.composition = snapshot.site.composition;
  out.knowledge = snapshot.site.knowledge;
  out.seed = snapshot.site.seed;
  out.now_ns = snapshot.now_ns;
  return out;
}

}  // namespace goban::serve::api

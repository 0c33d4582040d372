#include "live/controller/live_pilot.hpp"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>

namespace goban::live::controller {

using core::pilot::Outcomes;
using nlohmann::json;

namespace {

constexpr std::array<std::string_view, 4> kStateNames = {"running", "ended", "stopped",
                                                         "fell back"};

json outcomes_json(const Outcomes& of) {
  return {{"jobs", of.jobs},           {"missed", of.missed}, {"failed", of.failed},
          {"gpu_hours", of.gpu_hours}, {"judged", of.judged}, {"wait_s", of.wait_s},
          {"slowdown", of.slowdown}};
}

void read_outcomes(base::FieldReader& in, Outcomes& of) {
  constexpr int64_t kCountMax = int64_t{1} << 50;
  constexpr double kSumMax = 1e300;
  in.field("jobs", of.jobs, int64_t{0}, kCountMax);
  in.field("missed", of.missed, int64_t{0}, kCountMax);
  in.field("failed", of.failed, int64_t{0}, kCountMax);
  in.field("gpu_hours", of.gpu_hours, 0, kSumMax);
  in.field("judged", of.judged, int64_t{0}, kCountMax);
  in.field("wait_s", of.wait_s, 0, kSumMax);
  in.field("slowdown", of.slowdown, 0, kSumMax);
}

}  // namespace

std::string_view pilot_state_name(PilotState state) {
  return kStateNames[static_cast<size_t>(state)];
}

json to_json(const LivePilot& pilot) {
  json periods = json::array();
  for (const Outcomes& each : pilot.periods) periods.push_back(outcomes_json(each));
  json out = {{"plan", core::pilot::to_json(pilot.plan)},
              {"state", static_cast<int>(pilot.state)},
              {"started", pilot.started_ns},
              {"closed", pilot.closed_ns},
              {"period", pilot.period},
              {"started_by", pilot.started_by},
              {"detail", pilot.detail},
              {"periods", std::move(periods)}};
  if (pilot.part.valid()) out["part"] = pilot.part.value;
  return out;
}

void read_pilot(base::FieldReader& in, LivePilot& pilot) {
  in.object("plan", [&](base::FieldReader& part) {
    core::pilot::read_fields(part, pilot.plan);
    if (!part.good()) return;
    const base::Status fits = core::pilot::check(pilot.plan);
    if (!fits) part.fail(fits.error().place.field, fits.error().message);
  });
  auto state = static_cast<uint32_t>(pilot.state);
  in.field("state", state, uint32_t{0}, static_cast<uint32_t>(kStateNames.size() - 1));
  pilot.state = static_cast<PilotState>(state);
  in.field("started", pilot.started_ns, TimeNs{0}, base::kNever);
  in.field("closed", pilot.closed_ns, TimeNs{-1}, base::kNever);
  in.field("started_by", pilot.started_by);
  in.field("detail", pilot.detail);
  in.field("part", pilot.part.value, uint32_t{0}, UINT32_MAX);
  if (!in.good()) return;
  in.field("period", pilot.period, 0, pilot.plan.num_periods() - 1);
  in.list("periods",
          [&](base::FieldReader& part) { read_outcomes(part, pilot.periods.emplace_back()); });
  if (pilot.periods.size() > static_cast<size_t>(pilot.plan.num_periods())) {
    in.fail("periods", "has more periods than the plan");
  }
  pilot.periods.resize(static_cast<size_t>(pilot.plan.num_periods()));
}

}  // namespace goban::live::controller

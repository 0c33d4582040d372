#include "live/job/predicted_run.hpp"

#include <nlohmann/json.hpp>

namespace goban::live::job {

nlohmann::json to_json(const core::model::RunForecast& run) {
  return {{"p10", run.p10_ns}, {"p50", run.p50_ns}, {"p90", run.p90_ns}};
}

void read_fields(base::FieldReader& in, core::model::RunForecast& run) {
  in.field("p10", run.p10_ns, base::TimeNs{0}, base::kNever);
  in.field("p50", run.p50_ns, base::TimeNs{0}, base::kNever);
  in.field("p90", run.p90_ns, base::TimeNs{0}, base::kNever);
  if (run.p10_ns > run.p50_ns || run.p50_ns > run.p90_ns) in.fail("p50", "must ascend");
}

nlohmann::json to_json(const PredictedRun& predicted) {
  nlohmann::json out = to_json(predicted.run);
  out["from"] = core::knowledge::name_of(predicted.basis);
  return out;
}

void read_fields(base::FieldReader& in, PredictedRun& predicted) {
  read_fields(in, predicted.run);
  std::string from;
  in.field("from", from);
  predicted.basis = core::knowledge::basis_of(from);
}

}  // namespace goban::live::job

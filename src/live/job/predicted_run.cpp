#include "live/job/predicted_run.hpp"

#include <nlohmann/json.hpp>

namespace goban::live::job {

nlohmann::json to_json(const PredictedRun& predicted) {
  return {{"p10", predicted.run.p10_ns},
          {"p50", predicted.run.p50_ns},
          {"p90", predicted.run.p90_ns},
          {"from", core::knowledge::name_of(predicted.basis)}};
}

void read_fields(base::FieldReader& in, PredictedRun& predicted) {
  core::model::RunForecast& run = predicted.run;
  in.field("p10", run.p10_ns, base::TimeNs{0}, base::kNever);
  in.field("p50", run.p50_ns, base::TimeNs{0}, base::kNever);
  in.field("p90", run.p90_ns, base::TimeNs{0}, base::kNever);
  if (run.p10_ns > run.p50_ns || run.p50_ns > run.p90_ns) in.fail("p50", "must ascend");
  std::string from;
  in.field("from", from);
  predicted.basis = core::knowledge::basis_of(from);
}

}  // namespace goban::live::job

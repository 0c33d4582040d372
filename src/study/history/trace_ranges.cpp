#include "study/history/trace_ranges.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace goban::study::history {

void set_elasticflow_ranges(const std::vector<RateRow>& rows, const core::model::Cluster& cluster,
                            core::model::JobHistory& history) {
  constexpr int32_t kElasticGpusMax = 64;
  std::map<std::pair<std::string, int32_t>, std::vector<int32_t>> measured;
  for (const RateRow& row : rows) {
    const bool fits = row.gpus <= static_cast<int64_t>(cluster.num_gpus());
    if (row.steps_per_s > 0 && fits) measured[{row.model, row.batch_size}].push_back(row.gpus);
  }
  history.training.resize(history.jobs.size());
  for (size_t i = 0; i < history.jobs.size(); ++i) {
    const core::model::JobRequest request = history.jobs[i].request;
    core::model::TrainingFacts& facts = history.training[i];
    const auto found =
        measured.find({std::string(history.models[request.model.index()]), facts.batch_size});
    if (found == measured.end() || request.num_gpus <= 0) continue;
    const int32_t most = std::min(kElasticGpusMax, facts.batch_size);
    facts.gpus_min = facts.gpus_max = request.num_gpus;
    for (const int32_t gpus : found->second) {
      if (gpus > most) continue;
      facts.gpus_min = std::min(facts.gpus_min, gpus);
      facts.gpus_max = std::max(facts.gpus_max, gpus);
    }
  }
}

}  // namespace goban::study::history

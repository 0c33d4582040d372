#include "core/knowledge/durations/open_forecasts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <utility>

namespace goban::core::knowledge {

using model::JobId;

namespace {

void put_traits(std::string& out, const DurationTraits& traits) {
  base::put(out, traits.user.value);
  base::put(out, traits.account.value);
  base::put(out, traits.partition.value);
  base::put(out, traits.name.value);
  base::put(out, traits.num_gpus);
  base::put(out, traits.limit_s);
  base::put(out, traits.script);
}

DurationTraits get_traits(base::ByteReader& in, int format) {
  DurationTraits traits;
  traits.user = model::UserId(in.get<uint32_t>());
  traits.account = model::AccountId(in.get<uint32_t>());
  traits.partition = model::PartitionId(in.get<uint32_t>());
  traits.name = model::ModelId(in.get<uint32_t>());
  traits.num_gpus = in.get<int32_t>();
  traits.limit_s = in.get<double>();
  if (format >= 2) traits.script = in.get<uint32_t>();
  return traits;
}

bool get_quantiles(base::ByteReader& in, DurationForecast& forecast) {
  for (auto& mixture : forecast.of_mixtures) {
    for (float& quantile_s : mixture) {
      quantile_s = in.get<float>();
      if (!std::isfinite(quantile_s) || quantile_s < 0) return false;
    }
  }
  return true;
}

}  // namespace

void OpenForecasts::learn_past(std::vector<EndedRun> runs) {
  std::ranges::stable_sort(runs, {}, &EndedRun::submit_ns);
  using End = std::pair<base::TimeNs, uint32_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  const auto learn_until = [&](base::TimeNs now) {
    for (; !ends.empty() && ends.top().first <= now; ends.pop()) {
      const uint32_t run = ends.top().second;
      ended(JobId(run), runs[run].run_s);
    }
  };
  for (uint32_t i = 0; i < runs.size(); ++i) {
    learn_until(runs[i].submit_ns);
    submitted(JobId(i), runs[i].traits);
    ends.emplace(std::max(runs[i].end_ns, runs[i].submit_ns), i);
  }
  learn_until(base::kNever);
}

const DurationForecast& OpenForecasts::submitted(JobId job, const DurationTraits& traits) {
  const bool same =
      last_.forecast != nullptr && last_.traits == traits && learned_then_ == predictor_.learned();
  if (!same) {
    last_ = {.traits = traits,
             .forecast = std::make_shared<const DurationForecast>(predictor_.predict(traits))};
    learned_then_ = predictor_.learned();
  }
  open_[job] = last_;
  return *last_.forecast;
}

void OpenForecasts::ended(JobId job, double run_s) {
  const auto found = open_.find(job);
  if (found == open_.end()) return;
  const Open open = std::move(found->second);
  open_.erase(found);
  predictor_.learn(open.traits, *open.forecast, run_s);
}

std::string OpenForecasts::bytes() const {
  std::string out;
  predictor_.write(out);
  const std::map<JobId, Open> sorted(open_.begin(), open_.end());
  base::put_varint(out, sorted.size());
  const DurationForecast* before = nullptr;
  for (const auto& [job, open] : sorted) {
    base::put(out, job.value);
    put_traits(out, open.traits);
    const bool same = before != nullptr && open.forecast->familiarity == before->familiarity &&
                      open.forecast->distribution == before->distribution &&
                      open.forecast->of_mixtures == before->of_mixtures;
    base::put(out, static_cast<uint8_t>(same ? 1 : 0));
    before = open.forecast.get();
    if (same) continue;
    // Learning needs no more of a forecast.
    base::put(out, open.forecast->familiarity);
    put_sparse(out, open.forecast->distribution);
    for (const auto& mixture : open.forecast->of_mixtures) {
      for (const float quantile_s : mixture) base::put(out, quantile_s);
    }
  }
  return out;
}

bool OpenForecasts::read(base::ByteReader& in, int format) {
  if (!predictor_.read(in, format)) return false;
  const uint64_t count = in.varint();
  std::shared_ptr<const DurationForecast> before;
  for (uint64_t i = 0; i < count && in.good(); ++i) {
    const JobId job(in.get<uint32_t>());
    Open open{.traits = get_traits(in, format), .forecast = {}};
    if (!std::isfinite(open.traits.limit_s) || open.traits.limit_s < 0) return false;
    if (in.get<uint8_t>() == 0) {
      DurationForecast forecast;
      forecast.familiarity = in.get<uint8_t>();
      if (forecast.familiarity > 2 || !get_sparse(in, forecast.distribution)) return false;
      if (format >= 2 && !get_quantiles(in, forecast)) return false;
      before = std::make_shared<const DurationForecast>(forecast);
    }
    if (before == nullptr) return false;
    open.forecast = before;
    open_.emplace(job, std::move(open));
  }
  return in.good() && in.left() == 0;
}

}  // namespace goban::core::knowledge

#include "train/trainer/compare_layouts.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "base/clock.hpp"
#include "train/mesh/device.hpp"
#include "train/trainer/planner_costs.hpp"
#include "train/trainer/run_files.hpp"
#include "train/trainer/same_on_ranks.hpp"
#include "train/trainer/stopping.hpp"
#include "train/trainer/training_step.hpp"

namespace goban::train::trainer {
namespace {

constexpr int kWarmSteps = 3, kSteps = 15;

/// The median time of a step; nullopt after a signal.
base::Result<std::optional<double>> measured_step_s(const TrainOptions& options,
                                                    const mesh::LayoutChoice& choice,
                                                    comm::Communicator& end, c10::Device device) {
  mesh::DeviceMemory memory(options.memory_limit_bytes, device);
  auto step = build_step(options);
  if (!step) return base::failure(step.error());
  ChosenLayout layout;
  layout.mesh = choice.mesh;
  layout.rules = choice.rules;
  auto ready = TrainingStep::create(options, std::move(*step), layout, end, memory);
  if (!ready) return base::failure(ready.error());
  const std::vector<mesh::Feeds> feeds = (*ready)->zero_feeds();
  std::vector<double> taken;
  for (int i = 0; i < kWarmSteps + kSteps; ++i) {
    const auto stop = agreed_to_stop(end);  // also a barrier
    if (!stop) return base::failure(stop.error());
    if (*stop) return std::optional<double>{};
    const double before = base::steady_s();
    if (auto run = (*ready)->run(feeds, i); !run) return base::failure(run.error());
    if (i >= kWarmSteps) taken.push_back(base::steady_s() - before);
  }
  std::ranges::nth_element(taken, taken.begin() + kSteps / 2);
  return std::optional(taken[kSteps / 2]);
}

}  // namespace

base::Result<Comparison> compare_layouts(const TrainOptions& options, int64_t most,
                                         comm::Communicator& end) {
  Facts facts = facts_of(options);
  facts.emplace_back("--compare-layouts", std::to_string(most));
  if (auto s = same_options(end, facts); !s) return base::failure(s.error());
  if (!options.layout.empty() && options.layout != "auto") {
    return base::usage_error("--compare-layouts and --layout are mutually exclusive",
                             "remove one of them");
  }
  const auto step = build_step(options);
  if (!step) return base::failure(step.error());
  const auto device = mesh::resolve_device(options.device, end.local_rank());
  if (!device) return base::failure(device.error());
  const auto meshes = planner_meshes(options, end.size());
  if (!meshes) return base::failure(meshes.error());
  const auto costs = planner_costs(options, meshes->front().devices(), end);
  if (!costs) return base::failure(costs.error());
  const mesh::PlannerOptions wanted{mesh::Objective::Time, *costs, options.memory_limit_bytes,
                                    options.micro_batches, [] { return stop_requested.load(); }};
  std::vector<mesh::LayoutChoice> ranked =
      mesh::rank_layouts((*step)->graph, (*step)->roots(), *meshes, wanted);
  Comparison out{*costs, ranked.size(), {}, false};
  const auto stop = agreed_to_stop(end);
  if (!stop) return base::failure(stop.error());
  out.stopped = *stop;
  if (out.stopped) return out;
  if (ranked.empty()) {
    return base::usage_error("no legal layout fits the memory limit",
                             "--layout auto reports the minimum");
  }
  ranked.resize(std::min(ranked.size(), static_cast<size_t>(most)));
  for (mesh::LayoutChoice& each : ranked) {
    const auto measured_s = measured_step_s(options, each, end, *device);
    if (!measured_s) return base::failure(measured_s.error());
    out.stopped = !measured_s->has_value();
    if (out.stopped) return out;
    out.layouts.push_back({std::move(each), **measured_s});
  }
  return out;
}

std::string comparison_text(const Comparison& comparison) {
  const mesh::CostModel& costs = comparison.costs;
  const auto named = [](const std::string& text) { return text.empty() ? "-" : text; };
  size_t wide = 0;
  for (const ComparedLayout& each : comparison.layouts) {
    wide = std::max(wide, each.choice.rules.text().size());
  }
  std::string out = fmt::format(
      "{} of {} legal layouts, best prediction first (costs: {:.3g} s + {:.3g} s/byte per "
      "collective, {:.3g} flops/s, {:.3g} bytes/s)\n{:<20} {:<{}} {:>13} {:>13} {:>8}\n",
      comparison.layouts.size(), comparison.legal, costs.alpha_s, costs.beta_s_per_byte,
      costs.flops_per_s, costs.bytes_per_s, "mesh", "layout", wide, "predicted ms", "measured ms",
      "times");
  for (const ComparedLayout& each : comparison.layouts) {
    out +=
        fmt::format("{:<20} {:<{}} {:>13.3f} {:>13.3f} {:>8.2f}\n", named(each.choice.mesh.text()),
                    named(each.choice.rules.text()), wide, each.choice.step_s * 1e3,
                    each.measured_s * 1e3, each.measured_s / each.choice.step_s);
  }
  const auto quickest =
      std::ranges::min_element(comparison.layouts, {}, &ComparedLayout::measured_s);
  return out +
         fmt::format(
             "the planner's choice takes {:.2f} times as long as the fastest of these, \"{}\"\n",
             comparison.layouts.front().measured_s / quickest->measured_s,
             quickest->choice.rules.text());
}

}  // namespace goban::train::trainer

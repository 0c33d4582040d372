#include "study/simulator/batch.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <optional>
#include <stdexcept>
#include <thread>

namespace goban::study::simulator {

base::Result<std::vector<BatchResult>> simulate_all(const core::model::JobHistory& history,
                                                    const std::vector<BatchRun>& runs,
                                                    size_t threads) {
  std::vector<std::optional<base::Result<SimulationResult>>> outcomes(runs.size());
  std::vector<double> wall_s(runs.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next.fetch_add(1); i < runs.size(); i = next.fetch_add(1)) {
      const auto begin = std::chrono::steady_clock::now();
      try {
        outcomes[i] = simulate(history, runs[i].speed, runs[i].composition, runs[i].options);
      } catch (const std::runtime_error& error) {
        // Parts from outside have no other way to end a run.
        outcomes[i] =
            base::failed(fmt::format("policy {}: {}", runs[i].composition.name, error.what()));
      }
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      wall_s[i] = took.count();
    }
  };
  {
    std::vector<std::jthread> pool;
    const size_t helpers = std::min(std::max<size_t>(threads, 1), runs.size());
    for (size_t i = 1; i < helpers; ++i) pool.emplace_back(work);
    work();
  }
  std::vector<BatchResult> results;
  for (size_t i = 0; i < runs.size(); ++i) {
    base::Result<SimulationResult>& outcome = *outcomes[i];
    if (!outcome) return base::failure(outcome.error());
    results.push_back({std::move(*outcome), wall_s[i]});
  }
  return results;
}

}  // namespace goban::study::simulator

// The rivals as presets of `goban simulate --format shockwave|elasticflow`: reads their files,
// replays them, and writes what they decided.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::study::rivals {

enum class RivalFormat : uint8_t { Shockwave, ElasticFlow };

/// A published policy.
struct RivalPreset {
  const char* name;
  RivalFormat format;
  const char* description;
  const char* quirks;  ///< of the artifact, which are kept
  bool takes_shares;   ///< `--shares` may give recorded shares
};

/// In the order of `goban policies`.
[[nodiscard]] std::span<const RivalPreset> rival_presets();
/// "shockwave" or "elasticflow".
[[nodiscard]] const char* rival_format_name(RivalFormat format);
/// True if `--format` names a rival's trace.
[[nodiscard]] bool is_rival_format(std::string_view name);

/// Paths and names as given; empty = not given.
struct RivalOptions {
  std::string cluster{};  ///< NODESxGPUS: Nx1 for shockwave, Nx8 for elasticflow
  std::string format{};
  std::string jobs{};
  std::string rates{};
  std::string batch_sizes{};  ///< shockwave
  std::string shares{};
  std::optional<double> restart_cost_s{};  ///< shockwave; none: 20 s, as published
  std::string out{};  ///< folder; DIR/<policy>/jobs.csv, and for elasticflow rows.csv
  std::vector<std::string> policies{};
  bool decisions = false;  ///< also DIR/<policy>/decisions.jsonl
};

struct RivalSummary {
  std::string policy;
  size_t jobs = 0;
  double mean_jct_s = 0;
  double makespan_s = 0;
  size_t decisions = 0;  ///< rounds or maps
  size_t placements = 0;
  size_t computations = 0;   ///< of shares
  const char* shares = "-";  ///< "recorded", "own solver", or "-": the policy solves no program
};

/// Replays each policy and writes its files. Errors: Usage for names and clusters that do not fit
/// the format; those of the readers and of the policies.
[[nodiscard]] base::Result<std::vector<RivalSummary>> run_rivals(const RivalOptions& options);

/// A row for each policy.
[[nodiscard]] std::string rivals_table(const std::vector<RivalSummary>& summaries);
/// `{"rivals": [...]}` with a line end.
[[nodiscard]] std::string rivals_json(const std::vector<RivalSummary>& summaries);

}  // namespace goban::study::rivals

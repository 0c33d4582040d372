#include "site/inputs/inputs.hpp"

#include <filesystem>
#include <system_error>

#include "base/text_file.hpp"
#include "core/knowledge/colocation/colocation_file.hpp"
#include "core/knowledge/energy/power_file.hpp"
#include "core/knowledge/energy/power_presets.hpp"
#include "core/knowledge/scores_file.hpp"
#include "core/model/cluster_file.hpp"
#include "core/model/cluster_presets.hpp"
#include "core/model/site_rules_file.hpp"

namespace goban::site::inputs {
namespace {

using base::Result;

constexpr size_t kMib = size_t{1} << 20;

/// `parse(text, name)` of a file of at most this many bytes.
template <typename Parse>
auto parse_file(const std::string& path, size_t bytes_max, const Parse& parse)
    -> decltype(parse(std::string(), std::string())) {
  const auto text = base::read_text_file(path, bytes_max);
  if (!text) return base::failure(text.error());
  return parse(*text, base::input_name(path));
}

}  // namespace

bool is_cluster_file(const std::string& spec) {
  std::error_code ignored;
  return spec.ends_with(".toml") || std::filesystem::is_regular_file(spec, ignored);
}

Result<core::model::Cluster> resolve_cluster(const std::string& spec) {
  return is_cluster_file(spec) ? parse_file(spec, 64 * kMib, core::model::parse_cluster)
                               : core::model::make_preset(spec);
}

Result<core::model::StorageTiers> resolve_tiers(const std::string& spec) {
  if (!is_cluster_file(spec)) return core::model::StorageTiers{};
  return parse_file(spec, 64 * kMib, core::model::parse_storage_tiers);
}

bool is_power_file(const std::string& spec) {
  return spec == "-" || spec.find_first_of("./") != std::string::npos;
}

Result<core::knowledge::PowerCatalog> resolve_power(const std::string& spec) {
  return is_power_file(spec) ? parse_file(spec, kMib, core::knowledge::parse_power)
                             : core::knowledge::make_power_presets(spec);
}

Result<core::model::SiteRules> read_site_rules(const std::string& path,
                                               core::model::JobHistory& history) {
  return parse_file(path, 64 * kMib, [&](const std::string& text, const std::string& name) {
    return core::model::parse_site_rules(text, name, history);
  });
}

Result<core::knowledge::PmScores> read_scores(const std::string& path,
                                              std::optional<uint32_t> num_gpus,
                                              const core::knowledge::BinningOptions& binning) {
  return parse_file(path, 1024 * kMib, [&](const std::string& text, const std::string& name) {
    return core::knowledge::parse_scores(text, name, num_gpus, binning);
  });
}

Result<core::knowledge::ProfileRuns> read_profile_runs(const std::string& path) {
  return parse_file(path, 1024 * kMib, core::knowledge::parse_profile_runs);
}

Result<core::knowledge::ColocationHistory> read_colocation(const std::string& path) {
  return parse_file(path, 256 * kMib, core::knowledge::parse_colocation);
}

}  // namespace goban::site::inputs

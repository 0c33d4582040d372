#include "live/controller/applications.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/knowledge/colocation/colocation_file.hpp"

namespace goban::live::controller {

using core::knowledge::GpuTypeId;
using core::model::AppId;

namespace {

/// The name with characters that co-location files do not allow replaced by '_'.
std::string file_name(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return !core::knowledge::is_set_name({&c, 1}) && c != ' '; }, '_');
  const size_t begin = std::min(name.find_first_not_of(' '), name.size());
  const size_t end = name.find_last_not_of(' ') + 1;
  return name.substr(begin, std::max(begin, end) - begin);
}

}  // namespace

Applications::Applications(const core::policy::SiteKnowledge* known) : known_(known) {
  if (known == nullptr) return;
  const core::knowledge::ColocationHistory& history = known->colocation;
  for (size_t i = 0; i < history.num_apps(); ++i) names_.intern(history.app_name(AppId(i)));
  for (size_t i = 0; i < history.num_gpu_types(); ++i) {
    gpu_types_.intern(history.gpu_type_name(GpuTypeId(i)));
  }
}

AppId Applications::of(const job::JobSpec& spec) {
  if (known_ == nullptr || spec.num_gpus < 1) return {};
  const auto batch = spec.model.empty() ? 0 : spec.training.batch_size;
  const std::string& program = spec.model.empty() ? spec.application : spec.model;
  if (program.empty()) return {};
  const std::string input = core::knowledge::batch_input(batch);
  const AppId measured = known_->colocation.find_app(program, input);
  if (measured.valid()) return measured;
  std::string name = file_name(program);
  if (name.empty()) return {};
  if (!input.empty()) name += "@" + input;
  const AppId seen(names_.find(name));
  if (seen.valid() || names_.size() >= kMost) return seen;
  return AppId(names_.intern(name));
}

bool Applications::Renumbering::is_needed() const {
  for (size_t i = 0; i < apps.size(); ++i) {
    if (apps[i].index() != i) return true;
  }
  for (size_t i = 0; i < gpu_types.size(); ++i) {
    if (gpu_types[i].index() != i) return true;
  }
  return false;
}

Applications::Renumbering Applications::adopt(const std::vector<std::string>& apps,
                                              const std::vector<std::string>& gpu_types) {
  Renumbering out;
  for (const std::string& name : apps) out.apps.emplace_back(names_.intern(name));
  for (const std::string& name : gpu_types) out.gpu_types.emplace_back(gpu_types_.intern(name));
  return out;
}

core::knowledge::ColocationHistory Applications::named(
    const core::knowledge::ColocationHistory& learned) const {
  core::knowledge::ColocationHistory out =
      known_ == nullptr ? core::knowledge::ColocationHistory{} : known_->colocation;
  for (size_t i = 0; i < names_.size(); ++i) static_cast<void>(out.add_app(names_[i], ""));
  for (size_t i = 0; i < gpu_types_.size(); ++i) out.add_gpu_type(gpu_types_[i]);
  for (const core::knowledge::MeasuredSet& set : learned.sets()) {
    const bool has_names =
        set.gpu_type.index() < gpu_types_.size() &&
        std::ranges::all_of(set.members(), [&](AppId app) { return app.index() < names_.size(); });
    if (!has_names) continue;
    core::knowledge::MeasuredSet named = set;
    named.samples = std::max(1.0, set.samples);  // declared values have fewer samples
    named.source = out.add_source(learned.source(set.source));
    out.put(named);
  }
  return out;
}

}  // namespace goban::live::controller

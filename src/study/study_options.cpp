#include "study/study_options.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <thread>

#include "core/policy/policy_options.hpp"

namespace goban::study {

using base::Result;

namespace {

/// A non-sticky policy places all jobs again in every decision: at events, jobs would restart with
/// every submission and every end of another.
constexpr double kNonStickyRound_s = 360;

double round_of(const StudyOptions& options, const core::policy::Composition& composition) {
  if (options.round_s) return *options.round_s;
  const bool restarts = composition.preemption() == core::policy::Preemption::NonSticky;
  const double round_s = composition.settings.round_s;
  return restarts && round_s <= 0 ? kNonStickyRound_s : round_s;
}

}  // namespace

StudyOptions::StudyOptions() : threads(std::max(1u, std::thread::hardware_concurrency())) {}

void add_site_policy(StudyOptions& options) {
  if (!options.backtest || options.backtest->empty()) return;
  if (std::ranges::find(options.policies, *options.backtest) != options.policies.end()) return;
  options.policies.insert(options.policies.begin(), *options.backtest);
}

Result<std::vector<lab::Plugin>> load_plugins(const StudyOptions& options) {
  std::vector<lab::Plugin> out;
  for (const std::string& path : options.plugins) {
    auto plugin = lab::Plugin::load(path);
    if (!plugin) return base::failure(plugin.error());
    for (const lab::PluginPolicy& policy : plugin->policies()) {
      const std::string& name = policy.text.name;
      if (find_policy(out, name) == nullptr && !core::policy::compose(name)) continue;
      return base::usage_error(fmt::format("--plugin {}: there is another policy {}", path, name),
                               "give the policy another name");
    }
    out.push_back(std::move(*plugin));
  }
  return out;
}

const lab::PluginPolicy* find_policy(const std::vector<lab::Plugin>& plugins,
                                     const std::string& name) {
  for (const lab::Plugin& plugin : plugins) {
    if (const lab::PluginPolicy* found = plugin.find(name)) return found;
  }
  return nullptr;
}

namespace {

Result<core::policy::Composition> compose(const std::string& name, const StudyOptions& options,
                                          const std::vector<lab::Plugin>& plugins) {
  const lab::PluginPolicy* const plugin = find_policy(plugins, name);
  if (plugin == nullptr) return core::policy::compose(name, options.order);
  if (plugin->text.methods.order && options.order) {
    return base::usage_error(fmt::format("--order: policy {} orders by itself", name),
                             "omit --order");
  }
  auto composition = core::policy::compose(plugin->text.parts, options.order);
  if (composition) composition->name = name;
  return composition;
}

}  // namespace

Result<std::vector<core::policy::Composition>> compositions(const StudyOptions& options) {
  const auto plugins = load_plugins(options);
  if (!plugins) return base::failure(plugins.error());
  std::vector<core::policy::Composition> out;
  std::set<std::string> names;
  for (const std::string& name : options.policies) {
    auto composition = compose(name, options, *plugins);
    if (!composition) return base::failure(composition.error());
    if (!names.insert(composition->name).second) {
      return base::usage_error(fmt::format("policy {} is given twice", name),
                               "name each policy once");
    }
    core::policy::RunSettings& settings = composition->settings;
    settings.round_s = round_of(options, *composition);
    if (options.restart_cost_s) settings.restart_cost_s = *options.restart_cost_s;
    for (const std::string& setting : options.sharing) {
      if (base::Status set = core::policy::set_option(composition->options, setting); !set) {
        return base::failure(set.error());
      }
    }
    if (options.locality_penalty) settings.locality_penalty = *options.locality_penalty;
    if (settings.credit_per_round && settings.round_s <= 0) {
      return base::usage_error(fmt::format("{} works in rounds", name),
                               "give a --round above 0, or omit it");
    }
    out.push_back(std::move(*composition));
  }
  return out;
}

}  // namespace goban::study

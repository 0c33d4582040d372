#include "live/controller/node_choice.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace goban::live::controller {

using base::Status;

namespace {

Status refuse_choice(const char* field, std::string message, std::string remedy) {
  return base::bad_data({.file = {}, .line = 0, .column = 0, .field = field}, std::move(message),
                        std::move(remedy));
}

/// The words of a name, which anything but letters and digits separates.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : base::lowered(name)) {
    const bool is_part = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_part) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// At most a few, for a message.
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kShown = 16;
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    out += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kShown) out += fmt::format(" and {} more", names.size() - kShown);
  return out;
}

/// The models of the site's GPUs.
std::vector<std::string> models_of(const Site& site) {
  if (!site.gpu_models.empty()) return site.gpu_models;
  std::vector<std::string> names;
  for (const core::model::GpuModel& model : site.cluster.gpu_models()) names.push_back(model.name);
  return names;
}

/// The nodes of these names. Errors: BadData if there is no such node.
base::Result<std::set<NodeId>> find_nodes(const char* field, const std::vector<std::string>& names,
                                          const core::model::Cluster& cluster) {
  std::set<NodeId> found;
  for (const std::string& name : names) {
    const auto node = cluster.find_node(name);
    if (node) {
      found.insert(*node);
      continue;
    }
    std::vector<std::string> known;
    for (const core::model::Node& each : cluster.nodes()) known.push_back(each.name);
    const Status refused = refuse_choice(field, fmt::format("there is no node {}", name),
                                         "nodes here: " + listed(known));
    return base::failure(refused.error());
  }
  return found;
}

Status check_named_nodes(const job::JobSpec& spec, const core::model::Cluster& cluster) {
  const auto wanted = find_nodes("node_list", spec.node_list, cluster);
  if (!wanted) return base::failure(wanted.error());
  const auto excluded = find_nodes("exclude_nodes", spec.exclude_nodes, cluster);
  if (!excluded) return base::failure(excluded.error());
  const size_t all = cluster.nodes().size();
  if (excluded->size() == all) {
    return refuse_choice("exclude_nodes", "excludes every node", "leave one out");
  }
  const bool is_some = !wanted->empty() && wanted->size() < all;
  if (excluded->empty() && !is_some) return {};
  return refuse_choice(is_some ? "node_list" : "exclude_nodes",
                       "jobs cannot be confined to some of several nodes",
                       "omit it, or use a reservation");
}

Status check_model(const std::string& asked, const Site& site) {
  if (asked.empty()) return {};
  const std::vector<std::string> models = models_of(site);
  const auto means = [&](const std::string& name) { return means_model(asked, name); };
  const auto meant = static_cast<size_t>(std::ranges::count_if(models, means));
  if (meant == models.size()) return {};
  if (meant == 0) {
    return refuse_choice("gpu_model", fmt::format("no GPU is a '{}'", asked),
                         "GPU models here: " + listed(models));
  }
  return refuse_choice(
      "gpu_model", fmt::format("GPUs of several models are scheduled as one: {}", listed(models)),
      "omit the model");
}

}  // namespace

bool means_model(std::string_view asked, std::string_view name) {
  const std::vector<std::string> words = words_of(name);
  auto from = words.begin();
  for (const std::string& word : words_of(asked)) {
    from = std::find(from, words.end(), word);
    if (from == words.end()) return false;
    ++from;
  }
  return true;
}

Status check_node_choice(const job::JobSpec& spec, const Site& site) {
  if (auto status = check_named_nodes(spec, site.cluster); !status) return status;
  return check_model(spec.gpu_model, site);
}

}  // namespace goban::live::controller

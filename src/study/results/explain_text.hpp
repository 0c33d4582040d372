// The story of one job in words, and as JSON.
#pragma once

#include <string>

#include "engine/simulated/explainer.hpp"

namespace goban::report {

/// What a story is about.
struct ExplainContext {
  const model::JobHistory* history = nullptr;
  const model::Cluster* cluster = nullptr;
  const policy::Composition* composition = nullptr;
  model::JobId job{};
};

/// Paragraphs for a terminal: the job, its waiting, each launch with the entries it had, its stops.
[[nodiscard]] std::string explain_text(const ExplainContext& context,
                                       const engine::JobStory& story);

/// One document; keys in docs/explain.md.
[[nodiscard]] std::string explain_json(const ExplainContext& context,
                                       const engine::JobStory& story);

}  // namespace goban::report

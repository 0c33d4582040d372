// The story of one job in words, and as JSON.
#pragma once

#include <string>

#include "study/simulator/explainer.hpp"

namespace goban::study::results {

/// What a story is about.
struct ExplainContext {
  const core::model::JobHistory* history = nullptr;
  const core::model::Cluster* cluster = nullptr;
  const core::policy::Composition* composition = nullptr;
  core::model::JobId job{};
};

/// Paragraphs for a terminal: the job, its waiting, each launch with the entries it had, its stops.
[[nodiscard]] std::string explain_text(const ExplainContext& context,
                                       const simulator::JobStory& story);

/// One document; keys in docs/explain.md.
[[nodiscard]] std::string explain_json(const ExplainContext& context,
                                       const simulator::JobStory& story);

}  // namespace goban::study::results

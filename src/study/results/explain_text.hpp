// The explanation of one job as text and as JSON.
#pragma once

#include <string>

#include "core/model/job_history.hpp"
#include "study/simulator/explainer.hpp"

namespace goban::study::results {

/// The run and the job of a story.
struct ExplainContext {
  const core::model::JobHistory* history = nullptr;
  const core::model::Cluster* cluster = nullptr;
  const core::policy::Composition* composition = nullptr;
  core::model::JobId job{};
};

/// Paragraphs for a terminal: the job, its waits, each launch with its candidate entries, its
/// stops.
[[nodiscard]] std::string explain_text(const ExplainContext& context,
                                       const simulator::JobStory& story);

/// One JSON document; docs/explain.md lists its keys.
[[nodiscard]] std::string explain_json(const ExplainContext& context,
                                       const simulator::JobStory& story);

}  // namespace goban::study::results

// Any bytes as a state of LearnedScores: accepted input survives writing and reading, and can be
// restored.
#include <cstdint>

#include "base/check.hpp"
#include "core/knowledge/measure/learned_scores_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace goban::core::knowledge;
  auto image = parse_learned_scores({reinterpret_cast<const char*>(data), size}, "fuzz.json");
  if (!image) {
    GOBAN_CHECK(!image.error().text().empty());
    return 0;
  }
  const std::string written = to_json(*image);
  const auto again = parse_learned_scores(written, "again.json");
  GOBAN_CHECK(again.has_value(), written);
  GOBAN_CHECK(to_json(*again) == written, written);
  std::vector<std::string> uuids;
  for (const auto& word : image->words) uuids.push_back(word.uuid);
  const auto num_gpus = static_cast<uint32_t>(uuids.size());
  LearnedScores scores(uuids,
                       ScoreTable(image->learner.raw.size(), std::vector(uuids.size(), 1.0)));
  scores.restore(std::move(*image));
  for (uint32_t i = 0; i < 8; ++i) {
    (void)scores.observe({.user = i % 4,
                          .source = TimeSource::RankCompute,
                          .gpus = {GpuId(i % num_gpus)},
                          .step_s = {1.0 + i}},
                         1'700'000'000);
  }
  GOBAN_CHECK(scores.facts(1'700'000'000).size() == uuids.size());
  return 0;
}

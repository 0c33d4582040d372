// Any bytes are accepted as an incidents file: either rejected, or events in time order in which
// every node goes down and returns alternately, and failing jobs are in the history.
#include "study/history/incidents.hpp"

#include <array>
#include <cstdint>

#include "base/check.hpp"
#include "core/model/cluster_presets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const goban::core::model::Cluster cluster = *goban::core::model::make_preset("4x2");
  static const goban::core::model::JobHistory history = [] {
    goban::core::model::JobHistory two;
    for (const char* name : {"1", "b"}) two.job_names.add(name);
    two.jobs.resize(2);
    return two;
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto events = goban::study::history::parse_incidents(text, "fuzz.toml", cluster, history);
  if (!events) {
    GOBAN_CHECK(!events.error().message.empty() && events.error().place.file == "fuzz.toml");
    return 0;
  }
  std::array<bool, 4> is_down{};
  goban::core::model::TimeNs last_ns = 0;
  for (const goban::core::model::Event& event : *events) {
    GOBAN_CHECK(event.at_ns >= last_ns);
    last_ns = event.at_ns;
    if (event.kind == goban::core::model::EventKind::JobBroke) {
      GOBAN_CHECK(event.job.index() < history.jobs.size());
      continue;
    }
    GOBAN_CHECK(event.node.index() < is_down.size());
    bool& down = is_down[event.node.index()];
    const bool is_return = event.kind == goban::core::model::EventKind::NodeRestored;
    GOBAN_CHECK(down == is_return);
    if (event.kind == goban::core::model::EventKind::NodeDrained) {
      GOBAN_CHECK(event.until_ns > event.at_ns);
    } else {
      down = !is_return;
    }
  }
  return 0;
}

// Any bytes are an incidents file: refused, or events in time order in which every node goes down
// and returns by turns; jobs that break are of the history.
#include "history/incidents.hpp"

#include <array>
#include <cstdint>

#include "base/check.hpp"
#include "model/cluster_presets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace model = goban::model;
  static const model::Cluster cluster = *model::make_preset("4x2");
  static const model::JobHistory history = [] {
    model::JobHistory two;
    for (const char* name : {"1", "b"}) two.job_names.add(name);
    two.jobs.resize(2);
    return two;
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto events = goban::history::parse_incidents(text, "fuzz.toml", cluster, history);
  if (!events) {
    GOBAN_CHECK(!events.error().message.empty() && events.error().place.file == "fuzz.toml");
    return 0;
  }
  std::array<bool, 4> is_down{};
  model::TimeNs last_ns = 0;
  for (const model::Event& event : *events) {
    GOBAN_CHECK(event.at_ns >= last_ns);
    last_ns = event.at_ns;
    if (event.kind == model::EventKind::JobBroke) {
      GOBAN_CHECK(event.job.index() < history.jobs.size());
      continue;
    }
    GOBAN_CHECK(event.node.index() < is_down.size());
    bool& down = is_down[event.node.index()];
    const bool is_return = event.kind == model::EventKind::NodeRestored;
    GOBAN_CHECK(down == is_return);
    if (event.kind == model::EventKind::NodeDrained) {
      GOBAN_CHECK(event.until_ns > event.at_ns);
    } else {
      down = !is_return;
    }
  }
  return 0;
}

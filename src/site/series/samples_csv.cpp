#include "site/series/samples_csv.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <span>

#include "base/number.hpp"
#include "site/series/store_reader.hpp"

namespace goban::site::series {
namespace {

bool is_selected(const SampleSelection& selection, const DeviceKey& device) {
  return (selection.node.empty() || device.node == selection.node) &&
         (selection.device.empty() || device.device == selection.device ||
          device.uuid == selection.device);
}

std::string text_of(const StoreReader& reader, const DeviceKey& device,
                    const std::vector<StoreReader::Code>& codes) {
  std::string out;
  for (const StoreReader::Code& code : codes) {
    const State state = state_of(code.code);
    const std::string value = state == State::Value
                                  ? base::number_text(code.code * reader.metric().quantum)
                              : state == State::Stale ? "stale"
                                                      : "N/A";
    out += fmt::format("{},{},{},{},{}\n", device.node, device.device, device.uuid,
                       base::number_text(static_cast<double>(code.time_ms) / 1000), value);
  }
  return out;
}

}  // namespace

base::Result<std::vector<DamagedDevice>> write_samples_csv(
    const std::string& store, const SampleSelection& selection, const base::Progress& progress,
    const std::function<void(std::string_view)>& sink) {
  const auto reader =
      StoreReader::open(store, selection.metric, selection.from_ms, selection.to_ms);
  if (!reader) return base::failure(reader.error());
  std::vector<const Track*> tracks;
  for (const Track& track : reader->tracks()) {
    if (is_selected(selection, track.device)) tracks.push_back(&track);
  }
  if (tracks.empty()) {
    return base::failed(fmt::format("{} has no such series", store),
                        "list its series with goban series info");
  }
  std::ranges::sort(tracks, {}, [](const Track* track) { return track->device; });
  sink(fmt::format("node,device,uuid,time_s,{}\n", reader->metric().name));
  std::vector<DamagedDevice> damaged;
  std::vector<StoreReader::Code> codes;
  for (const Track* track : tracks) {
    if (progress.is_cancelled()) break;
    codes.clear();
    const auto visit =
        reader->read(std::span(&track, 1), selection.from_ms, selection.to_ms - 1, codes);
    if (visit.damaged_blocks > 0) {
      damaged.push_back({track->device.node, track->device.device, visit.damaged_blocks});
    }
    sink(text_of(*reader, track->device, codes));
  }
  return damaged;
}

}  // namespace goban::site::series

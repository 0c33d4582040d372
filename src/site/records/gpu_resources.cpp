#include "site/records/gpu_resources.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/number.hpp"

namespace goban::site::records {
namespace {

constexpr std::array<std::string_view, 8> kDefaults = {"gpu=1",
                                                       "gpus=1",
                                                       "ngpus=1",
                                                       "rt_F=4:Full",
                                                       "rt_G.large=4:G.large",
                                                       "rt_G.small=1:G.small",
                                                       "rt_C.large=0:C.large",
                                                       "rt_C.small=0:C.small"};

std::optional<GpuResource> parse_entry(std::string_view text) {
  constexpr int64_t kGpusMax = 1 << 16;
  GpuResource out;
  if (const size_t star = text.rfind('*'); star != text.npos) {
    const std::string_view by = text.substr(star + 1);
    if (by != "slots" && by != "hosts") return std::nullopt;
    out.counted_by = by == "slots" ? CountedBy::Slot : CountedBy::Host;
    text = text.substr(0, star);
  }
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) return std::nullopt;
  out.name = text.substr(0, equals);
  text.remove_prefix(equals + 1);
  if (const size_t colon = text.find(':'); colon != text.npos) {
    out.resource_type = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  const auto gpus = base::parse_int(text);
  if (!gpus || *gpus < 0 || *gpus > kGpusMax) return std::nullopt;
  out.gpus = *gpus;
  return out;
}

}  // namespace

base::Result<GpuResources> GpuResources::parse(std::span<const std::string> entries) {
  GpuResources out;
  for (const std::string& entry : entries) {
    auto resource = parse_entry(entry);
    if (!resource) {
      return base::usage_error("invalid GPU resource \"" + entry + "\"",
                               "it must be NAME=GPUS[:TYPE][*slots|*hosts], such as gpu=1*slots or "
                               "rt_F=4:Full");
    }
    out.resources_.push_back(std::move(*resource));
  }
  for (const std::string_view entry : kDefaults) out.resources_.push_back(*parse_entry(entry));
  return out;
}

const GpuResource* GpuResources::find(std::string_view name) const {
  const auto found = std::ranges::find(resources_, name, &GpuResource::name);
  return found == resources_.end() ? nullptr : &*found;
}

}  // namespace goban::site::records

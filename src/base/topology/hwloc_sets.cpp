#include "base/topology/hwloc_sets.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>

namespace goban::base::topology {

namespace {

/// The value of an attribute of a tag, without its quotes; empty: there is none.
std::string_view value_in(std::string_view tag, std::string_view name) {
  for (size_t at = tag.find(name); at != std::string_view::npos; at = tag.find(name, at + 1)) {
    if (at == 0 || tag[at - 1] != ' ' || !tag.substr(at + name.size()).starts_with("=\"")) continue;
    const std::string_view rest = tag.substr(at + name.size() + 2);
    return rest.substr(0, rest.find('"'));
  }
  return {};
}

/// Objects of these types are nowhere in particular.
bool has_sets(std::string_view type) {
  constexpr std::array<std::string_view, 4> kWithout = {"Bridge", "PCIDev", "OSDev", "Misc"};
  return std::ranges::find(kWithout, type) == kWithout.end();
}

bool is_set(std::string_view text) { return text.starts_with("0x"); }

}  // namespace

Status check_hwloc_sets(std::string_view xml, const std::string& file) {
  constexpr std::array<std::string_view, 4> kSets = {"cpuset", "complete_cpuset", "nodeset",
                                                     "complete_nodeset"};
  constexpr std::string_view kObject = "<object ";
  int64_t line = 1;
  size_t counted = 0;
  for (size_t at = xml.find(kObject); at != std::string_view::npos;
       at = xml.find(kObject, at + 1)) {
    line += std::ranges::count(xml.substr(counted, at - counted), '\n');
    counted = at;
    const std::string_view tag = xml.substr(at, xml.find('>', at) - at);
    const std::string_view type = value_in(tag, "type");
    if (!has_sets(type)) continue;
    for (const std::string_view name : kSets) {
      if (is_set(value_in(tag, name))) continue;
      return bad_data(
          {file, static_cast<int>(line), 0, std::string(name)},
          fmt::format("is missing or damaged in an object of type '{}'", type.substr(0, 40)),
          "write it with hwloc 2: lstopo --of xml > hwloc.xml");
    }
  }
  return {};
}

}  // namespace goban::base::topology

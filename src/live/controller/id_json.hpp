// Ids and lists of ids in JSON: numbers from 0.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/json_fields.hpp"

namespace goban::live::controller {

/// An id that must be there.
template <typename Id>
void read_id(base::FieldReader& in, const char* name, Id& id) {
  in.field(name, id.value, uint32_t{0}, UINT32_MAX);
  if (!id.valid() && in.good()) in.fail(name, "is missing");
}

template <typename Ids>
nlohmann::json ids_json(const Ids& ids) {
  nlohmann::json out = nlohmann::json::array();
  for (const auto id : ids) out.push_back(id.value);
  return out;
}

/// Appends a list of ids that are below `below`. A list that is absent is empty.
template <typename Ids>
void read_ids(base::FieldReader& in, const char* name, Ids& ids, uint32_t below = UINT32_MAX) {
  using Id = typename Ids::value_type;
  const nlohmann::json* list = in.find(name);
  if (list == nullptr) return;
  if (!list->is_array()) return in.fail(name, "is no list");
  for (const nlohmann::json& each : *list) {
    if (!each.is_number_unsigned() || each.get<uint64_t>() >= below) {
      return in.fail(name, "holds a number that is none of theirs");
    }
    ids.insert(ids.end(), Id(each.get<uint32_t>()));
  }
}

}  // namespace goban::live::controller

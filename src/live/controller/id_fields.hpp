// Ids as fields of JSON objects: numbers from 0.
#pragma once

#include <vector>

#include "base/json_fields.hpp"

namespace goban::live::controller {

/// Reads a required id.
template <typename Id>
void read_id(base::FieldReader& in, const char* name, Id& id) {
  in.field(name, id.value, uint32_t{0}, UINT32_MAX);
  if (!id.valid() && in.good()) in.fail(name, "is missing");
}

/// The numbers of ids, for JSON.
template <typename Ids>
std::vector<uint32_t> numbers_of(const Ids& ids) {
  std::vector<uint32_t> numbers;
  for (const auto id : ids) numbers.push_back(id.value);
  return numbers;
}

/// Appends a list of ids less than `below`. A missing list is empty.
template <typename Ids>
void read_ids(base::FieldReader& in, const char* name, Ids& ids, uint32_t below = UINT32_MAX) {
  std::vector<int64_t> numbers;
  in.field(name, numbers, int64_t{0}, int64_t{below} - 1);
  for (const int64_t number : numbers) {
    ids.insert(ids.end(), typename Ids::value_type(static_cast<uint32_t>(number)));
  }
}

}  // namespace goban::live::controller

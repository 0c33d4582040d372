// Ids as fields of JSON objects: numbers from 0, and the tables of names that they are numbers in.
#pragma once

#include <string>
#include <vector>

#include "base/json_fields.hpp"
#include "base/name_table.hpp"

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

/// The names of a table, by number.
[[nodiscard]] inline std::vector<std::string> names_of(const base::NameTable& names) {
  std::vector<std::string> out;
  for (size_t i = 0; i < names.size(); ++i) out.emplace_back(names[i]);
  return out;
}

/// Adds the names of a list to a table. Returns their numbers there.
template <typename Id>
std::vector<Id> adopt_names(base::FieldReader& in, const char* name, base::NameTable& names) {
  std::vector<std::string> listed;
  in.field(name, listed);
  std::vector<Id> numbers;
  for (const std::string& each : listed) numbers.emplace_back(names.intern(each));
  return numbers;
}

/// Whether some name of the list has another number in the table.
template <typename Id>
bool are_renumbered(const std::vector<Id>& numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i].index() != i) return true;
  }
  return false;
}

}  // namespace goban::live::controller

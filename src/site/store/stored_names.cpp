#include "site/store/stored_names.hpp"

namespace goban::site::store {

base::Status StoredNames::load(SqlConnection& connection) {
  names_.assign(1, {});
  return connection.query("SELECT id,kind,name FROM goban_names ORDER BY id",
                          [this](const SqlRow& row) {
                            const auto number = static_cast<size_t>(row.whole(0));
                            const auto kind = static_cast<size_t>(row.whole(1));
                            if (kind >= kNumNameKinds) return true;
                            const auto [at, is_new] =
                                numbers_[kind].try_emplace(std::string(row.text(2)), row.whole(0));
                            if (names_.size() <= number) names_.resize(number + 1);
                            names_[number] = at->first;
                            return true;
                          });
}

int64_t StoredNames::number(NameKind kind, std::string_view name) {
  if (name.empty()) return 0;
  Last& last = last_[static_cast<size_t>(kind)];
  if (last.number != 0 && last.text == name) return last.number;
  last.text = name;
  name = valid_text(name, valid_);
  Numbers& numbers = numbers_[static_cast<size_t>(kind)];
  auto found = numbers.find(name);
  if (found == numbers.end()) {
    const auto number = static_cast<int64_t>(names_.size());
    found = numbers.emplace(std::string(name), number).first;
    names_.emplace_back(found->first);
    new_.push_back({.kind = kind, .number = number, .text = found->first});
  }
  last.number = found->second;
  return found->second;
}

int64_t StoredNames::find(NameKind kind, std::string_view name) const {
  if (name.empty()) return 0;
  const Numbers& numbers = numbers_[static_cast<size_t>(kind)];
  const auto found = numbers.find(name);
  return found == numbers.end() ? -1 : found->second;
}

std::string_view StoredNames::operator[](int64_t number) const {
  if (number <= 0 || number >= static_cast<int64_t>(names_.size())) return {};
  return names_[static_cast<size_t>(number)];
}

base::Status StoredNames::write(SqlConnection& connection, const std::vector<New>& names) {
  if (names.empty()) return {};
  constexpr std::array<std::string_view, 3> kNameColumns = {"id", "kind", "name"};
  auto writer = connection.bulk({.name = "goban_names", .columns = kNameColumns, .num_keys = 1});
  if (!writer) return base::failure(writer.error());
  for (const New& each : names) {
    (*writer)->whole(each.number);
    (*writer)->whole(static_cast<int64_t>(each.kind));
    (*writer)->text(each.text);
    if (auto status = (*writer)->end_row(); !status) return status;
  }
  return (*writer)->flush();
}

}  // namespace goban::site::store

// The names of a store in memory: text to id and back; new ones are written with the jobs.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "site/store/schema.hpp"
#include "site/store/sql.hpp"

namespace goban::site::store {

/// Ids are unique over all kinds, from 1; 0 is the empty name and never stored.
class StoredNames {
 public:
  /// Reads all names. Errors: Failed.
  [[nodiscard]] base::Status load(SqlConnection& connection);
  /// The id of a name; a new name is added, see take_new().
  [[nodiscard]] int64_t number(NameKind kind, std::string_view name);
  /// The id of a stored name; -1 if there is none.
  [[nodiscard]] int64_t find(NameKind kind, std::string_view name) const;
  /// The name; empty for 0 and for unknown ids.
  [[nodiscard]] std::string_view operator[](int64_t number) const;
  /// A name that is not written yet; the text is valid as long as the names.
  struct New {
    NameKind kind{};
    int64_t number = 0;
    std::string_view text;
  };
  /// The names added since the last call.
  [[nodiscard]] std::vector<New> take_new() { return std::exchange(new_, {}); }
  /// Writes them. Errors: Failed.
  [[nodiscard]] static base::Status write(SqlConnection& connection, const std::vector<New>& names);

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Numbers = std::unordered_map<std::string, int64_t, Hash, std::equal_to<>>;

  struct Last {
    std::string text;
    int64_t number = 0;
  };

  std::array<Numbers, kNumNameKinds> numbers_;
  std::array<Last, kNumNameKinds> last_;  ///< last result per kind: equal names are often adjacent
  std::vector<std::string_view> names_;   ///< by id; keys of numbers_
  std::vector<New> new_;
  std::string valid_;
};

}  // namespace goban::site::store

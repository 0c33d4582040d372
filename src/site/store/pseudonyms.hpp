// Pseudonyms for histories that leave the site.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "site/records/accounting_record.hpp"

namespace goban::site::store {

/// Replaces users, accounts, groups and reservations by `u`, `a`, `g`, `r` and 12 hexadecimal
/// digits of HMAC-SHA-256 under a secret key: equal names stay equal, and without the key names
/// cannot be matched even against a list of known names. Job names and command lines are removed,
/// as are the folders of images in older stores.
class Pseudonyms {
 public:
  explicit Pseudonyms(std::string key) : key_(std::move(key)) {}

  /// The record with replaced names; its views are valid for the lifetime of this object, its
  /// software until the next call.
  [[nodiscard]] records::AccountingRecord hide(records::AccountingRecord record);

 private:
  [[nodiscard]] std::string_view pseudonym(char kind, std::string_view name);

  std::string key_;
  std::unordered_map<std::string, std::string> known_;
  std::vector<std::string_view> software_;  ///< of the last record
};

}  // namespace goban::site::store

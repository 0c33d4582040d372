#include "site/store/pseudonyms.hpp"

#include "base/sha256.hpp"
#include "site/records/software_name.hpp"

namespace goban::site::store {

std::string_view Pseudonyms::pseudonym(char kind, std::string_view name) {
  constexpr size_t kDigits = 12;
  if (name.empty()) return {};
  std::string tagged(1, kind);
  tagged += name;
  const auto [at, is_new] = known_.try_emplace(std::move(tagged));
  if (is_new) {
    at->second = kind + base::hex(base::hmac_sha256(key_, at->first)).substr(0, kDigits);
  }
  return at->second;
}

records::AccountingRecord Pseudonyms::hide(records::AccountingRecord record) {
  record.user = pseudonym('u', record.user);
  record.account = pseudonym('a', record.account);
  record.group = pseudonym('g', record.group);
  record.reservation = pseudonym('r', record.reservation);
  software_.clear();
  for (const std::string_view name : record.software) {
    software_.push_back(records::without_folders(name));
  }
  record.software = software_;
  record.job_name = {};
  record.command_line = {};
  return record;
}

}  // namespace goban::site::store

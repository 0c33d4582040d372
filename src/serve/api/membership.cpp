#include "serve/api/membership.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "base/nearest.hpp"
#include "core/model/site_rules.hpp"

namespace goban::serve::api {
namespace {

base::Status refuse(std::string message, std::string remedy) {
  return base::failure({.code = base::ErrorCode::Usage,
                        .message = std::move(message),
                        .place = {.file = {}, .line = 0, .column = 0, .field = "account"},
                        .remedy = std::move(remedy)});
}

}  // namespace

base::Status check_membership(const std::string& account, const Identity& who,
                              const live::job::Owner& owner, const live::controller::Site& site) {
  const bool has_file =
      site.composition.rules != nullptr && !site.composition.rules->accounts.empty();
  if (account.empty() || !has_file || who.is_operator()) return {};
  if (std::ranges::find(who.accounts, account) != who.accounts.end()) return {};
  const core::model::SiteRules& rules = *site.composition.rules;
  // Accounts from jobs are numbered after those of the file.
  const uint32_t number = site.accounts.find(account);
  if (number >= rules.accounts.size()) {
    std::vector<std::string_view> known;
    for (size_t i = 0; i < rules.accounts.size(); ++i) known.emplace_back(site.accounts[i]);
    const std::string_view near = base::nearest_name(account, known);
    return refuse(fmt::format("unknown account '{}'", account),
                  near.empty() ? "omit it, or ask an operator for one"
                               : fmt::format("did you mean {}?", near));
  }
  bool is_open = true;
  for (const core::model::UserRule& rule : rules.users) {
    if (rule.account.value != number) continue;
    if (site.users[rule.user.index()] == live::job::full_name(owner)) return {};
    is_open = false;
  }
  if (is_open) return {};
  return refuse(fmt::format("{} is not a member of account '{}'", owner.user, account),
                "use an account that lists you, or ask an operator");
}

}  // namespace goban::serve::api

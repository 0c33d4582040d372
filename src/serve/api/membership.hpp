// Checks that a submitter may charge an account, if the site has an accounts file.
#pragma once

#include "live/controller/controller.hpp"
#include "serve/api/caller.hpp"

namespace goban::serve::api {

/// Succeeds without an account, and at sites without an accounts file. Operators may use any
/// account. Other users may use an account that lists them or that lists no users (open to all);
/// account managers also the accounts that they manage. Errors: Usage with the field `account` and
/// a remedy.
[[nodiscard]] base::Status check_membership(const std::string& account, const Identity& who,
                                            const live::job::Owner& owner,
                                            const live::controller::Site& site);

}  // namespace goban::serve::api

// Which accounts a submitter may name, where the site has an accounts file.
#pragma once

#include "live/controller/controller.hpp"
#include "serve/api/caller.hpp"

namespace goban::serve::api {

/// Fine without an account, and at sites without a file. Operators name any account; everybody else
/// one of the file that lists him, or that lists no users and so is open to all; managers their
/// own, too. Errors: Usage with the field `account` and the remedy.
[[nodiscard]] base::Status check_membership(const std::string& account, const Identity& who,
                                            const live::job::Owner& owner,
                                            const live::controller::Site& site);

}  // namespace goban::serve::api

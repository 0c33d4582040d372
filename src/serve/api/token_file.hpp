// Bearer tokens: the file holds their SHA-256 sums, so that a reader of the file cannot use them.
//
//   # sum of the token                                                role      user   accounts
//   9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  user      alice
//   60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752  account_manager bob
//   vision,speech
//   486ea46224d1bb4fb680f34f7c9ad96a8f24ec88be73ea8e5a6c65260e9cb8a7  agent     n17
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sha256.hpp"

namespace goban::serve::api {

enum class Role : uint8_t {
  Agent,           ///< may report on a node, and nothing else; the token's user is the node, or *
  Viewer,          ///< may see everything, change nothing
  User,            ///< may change own jobs
  AccountManager,  ///< also the jobs of the managed accounts
  Operator,        ///< may do everything
};
/// As in the token file: "account_manager".
[[nodiscard]] std::string_view role_name(Role role);

struct Token {
  base::Sha256 sum{};
  Role role = Role::User;
  std::string user{};
  std::vector<std::string> accounts{};
};

/// Errors: BadData with the line; no message contains a sum.
[[nodiscard]] base::Result<std::vector<Token>> parse_tokens(std::string_view text,
                                                            const std::string& file);
/// Errors: also Failed if the file cannot be read, or users other than its owner may write to it.
[[nodiscard]] base::Result<std::vector<Token>> read_tokens(const std::string& path);

/// The entry of a token; null if there is none. Runs in constant time: a wrong token takes as long
/// as a right one.
[[nodiscard]] const Token* find_token(const std::vector<Token>& tokens, std::string_view token);

/// A new token: 256 random bits from the system as 43 characters. Errors: Failed.
[[nodiscard]] base::Result<std::string> make_token();

/// The token in `folder/token`, which the daemon creates for its own user if there is none. Errors:
/// Failed if it cannot be written, or users other than its owner may read it.
[[nodiscard]] base::Result<std::string> own_token(const std::string& folder);

}  // namespace goban::serve::api

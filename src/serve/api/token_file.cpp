#include "serve/api/token_file.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/field_splitter.hpp"
#include "base/files.hpp"
#include "base/gzip.hpp"
#include "base/text_file.hpp"

namespace goban::serve::api {

namespace {
constexpr std::array<std::string_view, 5> kRoles = {"agent", "viewer", "user", "account_manager",
                                                    "operator"};
constexpr size_t kFileBytesMax = 16 << 20;
constexpr size_t kTokenBytes = 32;
constexpr size_t kTokenLetters = 43;
constexpr const char* kOwnToken = "token";

bool parse_sum(std::string_view text, base::Sha256& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (text.size() != out.size() * 2) return false;
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t high = kDigits.find(text[i * 2]);
    const size_t low = kDigits.find(text[i * 2 + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return false;
    out[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return true;
}

base::Status read_line(std::string_view line, const base::Place& place, std::vector<Token>& out) {
  constexpr size_t kFieldsMax = 4;
  base::FieldSplitter splitter;
  splitter.split_blanks(line.substr(0, line.find('#')));
  const auto fields = splitter.fields();
  if (fields.empty()) return {};
  Token token;
  if (fields.size() < 3 || fields.size() > kFieldsMax) {
    return base::bad_data(
        place,
        "a line must have a SHA-256 sum, a role, a user, and for account managers "
        "their accounts, separated by commas");
  }
  if (!parse_sum(fields[0], token.sum)) {
    return base::bad_data(place, "the first field must be a SHA-256 sum",
                          "64 hexadecimal digits in lower case: printf %s TOKEN | sha256sum");
  }
  const auto* const role = std::find(kRoles.begin(), kRoles.end(), fields[1]);
  if (role == kRoles.end()) {
    return base::bad_data(place, "unknown role",
                          "agent, viewer, user, account_manager or operator");
  }
  token.role = static_cast<Role>(role - kRoles.begin());
  token.user = fields[2];
  if (fields.size() == kFieldsMax) {
    std::string_view rest = fields[3];
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(','), rest.size());
      if (end > 0) token.accounts.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  if ((token.role == Role::AccountManager) == token.accounts.empty()) {
    return base::bad_data(place, "account managers must have accounts; other roles have none");
  }
  out.push_back(std::move(token));
  return {};
}
}  // namespace

std::string_view role_name(Role role) { return kRoles[static_cast<size_t>(role)]; }

base::Result<std::vector<Token>> parse_tokens(std::string_view text, const std::string& file) {
  std::vector<Token> tokens;
  base::Place place{.file = file, .line = 0, .column = 0, .field = {}};
  while (!text.empty()) {
    ++place.line;
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (base::Status read = read_line(line, place, tokens); !read) {
      return base::failure(std::move(read.error()));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return tokens;
}

base::Result<std::vector<Token>> read_tokens(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) == 0 && (found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return base::failed(fmt::format("{}: users other than its owner may write to it", path),
                        fmt::format("chmod 600 {}", path));
  }
  const base::Result<std::string> text = base::read_text_file(path, kFileBytesMax);
  if (!text) return base::failure(text.error());
  return parse_tokens(*text, path);
}

const Token* find_token(const std::vector<Token>& tokens, std::string_view token) {
  const base::Sha256 sum = base::sha256(token);
  const Token* match = nullptr;
  for (const Token& each : tokens) {
    uint8_t difference = 0;
    for (size_t i = 0; i < sum.size(); ++i) {
      difference = static_cast<uint8_t>(difference | (sum[i] ^ each.sum[i]));
    }
    match = difference == 0 ? &each : match;
  }
  return match;
}

base::Result<std::string> make_token() {
  std::array<char, kTokenBytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return base::failed("cannot read random bytes from the system");
  }
  std::string text = base::base64({bytes.data(), bytes.size()});
  while (text.ends_with('=')) text.pop_back();
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

base::Result<std::string> own_token(const std::string& folder) {
  const std::string path = folder + '/' + kOwnToken;
  struct stat found{};
  if (::lstat(path.c_str(), &found) == 0) {
    const bool is_private = S_ISREG(found.st_mode) && (found.st_mode & (S_IRWXG | S_IRWXO)) == 0 &&
                            found.st_uid == ::geteuid();
    if (!is_private) {
      return base::failed(fmt::format("{}: users other than the daemon's may read it", path),
                          "remove it: the next start creates a new one");
    }
    auto text = base::read_small_file(path);
    if (!text) return text;
    if (text->ends_with('\n')) text->pop_back();
    if (text->size() == kTokenLetters) return text;
  }
  auto token = make_token();
  if (!token) return token;
  const auto written = base::replace_file(folder, kOwnToken, *token + '\n', base::Durable::No);
  if (!written) return base::failure(written.error());
  return token;
}

}  // namespace goban::serve::api

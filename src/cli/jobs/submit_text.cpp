#include "cli/jobs/submit_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"

namespace goban::cli {

using base::Status;

namespace {

/// Offset of the first byte that is not valid UTF-8; the size if all are valid.
size_t valid_bytes(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t bytes = base::utf8_bytes(text.substr(at));
    if (bytes == 0) break;
    at += bytes;
  }
  return at;
}

Status check_part(const nlohmann::json& part, const std::string& member) {
  if (part.is_string() && !is_utf8(part.get_ref<const std::string&>())) {
    return base::bad_data({.file = {}, .line = 0, .column = 0, .field = member},
                          "is not valid UTF-8", "use a name in UTF-8");
  }
  if (!part.is_structured()) return {};
  for (const auto& [name, below] : part.items()) {
    std::string path = member;
    if (!path.empty()) path += '.';
    path += name;
    if (auto fine = check_part(below, path); !fine) return fine;
  }
  return {};
}

}  // namespace

bool is_utf8(std::string_view text) { return valid_bytes(text) == text.size(); }

Status check_script(std::string_view script, const std::string& name) {
  const size_t valid = valid_bytes(script);
  if (valid == script.size()) return {};
  const auto line = 1 + std::count(script.begin(), script.begin() + static_cast<long>(valid), '\n');
  return base::bad_data({.file = name, .line = static_cast<int>(line), .column = 0, .field = {}},
                        "the script is not valid UTF-8 on this line",
                        "convert it, for example with iconv -f LATIN1 -t UTF-8, or submit a "
                        "command that runs it: goban submit --wrap 'sh FILE'");
}

Status check_arguments(const std::vector<std::string>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (is_utf8(arguments[i])) continue;
    return base::bad_data({},
                          fmt::format("argument {} ('{}') is not valid UTF-8", i + 1, arguments[i]),
                          "rename the file, or pass the value in a file");
  }
  return {};
}

Status check_body(const nlohmann::json& body) { return check_part(body, {}); }

}  // namespace goban::cli

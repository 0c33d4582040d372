#include "train/mesh/name_pattern.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <utility>

#include "base/printable.hpp"
#include "train/mesh/graph.hpp"

namespace goban::train::mesh {

NamePattern::NamePattern(std::string text) : text_(std::move(text)) {
  constexpr size_t kMost = 1000;
  if (text_.size() > kMost) {
    throw GraphError(fmt::format("a regular expression has {} characters; at most {} are allowed",
                                 text_.size(), kMost));
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  compiled_ = std::make_shared<const re2::RE2>(text_, options);
  if (!compiled_->ok()) {
    const bool bad_text = compiled_->error_code() == re2::RE2::ErrorBadUTF8;
    throw GraphError(
        fmt::format("'{}' is not a valid regular expression: {}", base::printable(text_),
                    bad_text ? "it is not valid UTF-8" : base::printable(compiled_->error())));
  }
}

bool NamePattern::is_in(const std::string& name) const {
  return re2::RE2::PartialMatch(name, *compiled_);
}

}  // namespace goban::train::mesh

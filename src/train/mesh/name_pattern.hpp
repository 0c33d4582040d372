// Regular expressions on names of variables, as users write them.
#pragma once

#include <memory>
#include <string>

namespace re2 {
class RE2;
}

namespace goban::train::mesh {

/// RE2's syntax: that of Perl without what would need backtracking, so that no expression takes
/// longer than in proportion to the name.
class NamePattern {
 public:
  /// Errors: GraphError if it is not a valid expression, or has more than 1,000 characters.
  explicit NamePattern(std::string text);
  [[nodiscard]] const std::string& text() const { return text_; }
  /// A part of the name matches.
  [[nodiscard]] bool is_in(const std::string& name) const;

 private:
  std::string text_;
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace goban::train::mesh

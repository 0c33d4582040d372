// Errors that a user can act on. Bugs are checked by GOBAN_CHECK (check.hpp); all other errors are
// Results.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace goban::base {

/// Kind of a failure; it is also the exit code of a program.
enum class ErrorCode {
  Failed = 1,   ///< a failure outside the program (file missing, disk full)
  Usage = 2,    ///< the command line or an option value is invalid
  BadData = 3,  ///< an input was read and rejected
};

/// Position of an error in an input. Zero or empty = unknown.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  std::string field;
};

/// An error for a user: what is wrong, where, and the remedy.
struct Error {
  ErrorCode code = ErrorCode::Failed;
  std::string message;
  Place place;
  std::string remedy;

  /// `file:line:column: field: message (remedy)` without the parts that are unknown; printable().
  [[nodiscard]] std::string text() const;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> failure(Error error) {
  return tl::unexpected<Error>(std::move(error));
}
[[nodiscard]] tl::unexpected<Error> failed(std::string message, std::string remedy = {});
[[nodiscard]] tl::unexpected<Error> usage_error(std::string message, std::string remedy = {});
[[nodiscard]] tl::unexpected<Error> bad_data(Place place, std::string message,
                                             std::string remedy = {});

}  // namespace goban::base

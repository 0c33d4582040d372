// Failures someone can act on. A bug is a CHECK (check.hpp); everything else is a Result.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace goban::base {

/// What kind of failure it is; decides the exit code of a program.
enum class ErrorCode {
  Failed = 1,   ///< something went wrong outside of our control (file missing, disk full)
  Usage = 2,    ///< the command line or an option value is wrong
  BadData = 3,  ///< an input was read and refused
};

/// Where in an input a problem stands. Zero means "not known".
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  std::string field;
};

/// A failure with a message for a person: what is wrong, where, and what to do about it.
struct Error {
  ErrorCode code = ErrorCode::Failed;
  std::string message;
  Place place;
  std::string remedy;

  /// `file:line:column: field: message (remedy)`, leaving out what is not known; printable().
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

#include "base/result.hpp"

#include <fmt/format.h>

#include "base/printable.hpp"

namespace goban::base {

std::string Error::text() const {
  std::string out = place.file;
  if (place.line > 0) out += fmt::format(":{}", place.line);
  if (place.column > 0) out += fmt::format(":{}", place.column);
  if (!out.empty()) out += ": ";
  if (!place.field.empty()) out += place.field + ": ";
  out += message;
  if (!remedy.empty()) out += fmt::format(" ({})", remedy);
  return printable(out);
}

namespace {
tl::unexpected<Error> make(ErrorCode code, Place place, std::string message, std::string remedy) {
  return failure({code, std::move(message), std::move(place), std::move(remedy)});
}
}  // namespace

tl::unexpected<Error> failed(std::string message, std::string remedy) {
  return make(ErrorCode::Failed, {}, std::move(message), std::move(remedy));
}

tl::unexpected<Error> usage_error(std::string message, std::string remedy) {
  return make(ErrorCode::Usage, {}, std::move(message), std::move(remedy));
}

tl::unexpected<Error> bad_data(Place place, std::string message, std::string remedy) {
  return make(ErrorCode::BadData, std::move(place), std::move(message), std::move(remedy));
}

}  // namespace goban::base

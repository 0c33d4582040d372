#include "serve/api/router.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <string_view>

#include "base/http/http_uri.hpp"
#include "base/http/reply.hpp"
#include "base/nearest.hpp"

namespace goban::serve::api {

namespace {

/// As path_segments(). The id of a job in a cluster's own queue (job_name.hpp) may hold slashes, as
/// NAMESPACE/NAME/UID does; they are sent as %2F.
std::optional<std::vector<std::string>> segments_of(std::string path) {
  constexpr std::string_view kSlash = "%2F";
  constexpr std::string_view kStandIn = "%5C";  // no such id has a backslash
  for (size_t begin = 1; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view segment = std::string_view(path).substr(begin, end - begin);
    const bool is_id = segment.starts_with('@') || segment.starts_with("%40");
    for (size_t at = begin; is_id && at + kSlash.size() <= end; ++at) {
      const bool is_slash = path.compare(at, kSlash.size(), kSlash) == 0 ||
                            path.compare(at, kSlash.size(), "%2f") == 0;
      if (is_slash) path.replace(at, kStandIn.size(), kStandIn);
    }
    begin = end + 1;
  }
  auto segments = base::http::path_segments(path);
  if (!segments) return segments;
  for (std::string& segment : *segments) {
    if (segment.starts_with('@')) std::ranges::replace(segment, '\\', '/');
  }
  return segments;
}

}  // namespace

void Router::add(std::string method, std::string_view path, Access access,
                 std::vector<std::string> query, Handler handler) {
  std::vector<std::string> segments;
  for (size_t begin = 1; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    segments.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  routes_.push_back(
      {std::move(method), std::move(segments), access, std::move(query), std::move(handler)});
}

bool Router::fits(const Route& route, const std::vector<std::string>& segments) {
  return std::equal(route.segments.begin(), route.segments.end(), segments.begin(), segments.end(),
                    [](const std::string& wanted, const std::string& given) {
                      return wanted == "{}" ? !given.empty() : wanted == given;
                    });
}

base::http::Response Router::run(const Route& route, const Call& call) {
  for (const auto& [name, value] : call.request.query) {
    if (std::find(route.query.begin(), route.query.end(), name) != route.query.end()) continue;
    const std::vector<std::string_view> known(route.query.begin(), route.query.end());
    const std::string_view meant = base::nearest_name(name, known);
    return base::http::refusal(
        base::http::kBadRequest, "unknown query parameter",
        meant.empty() ? std::string{} : fmt::format("did you mean {}?", meant), name);
  }
  try {
    return route.handler(call);
  } catch (const std::exception&) {
    // An internal error. Its text may contain parts of the request, so only its place is reported.
    return base::http::refusal(base::http::kBroken, "internal error of the server",
                               "please report it with the request");
  }
}

base::http::Response Router::answer(const base::http::Request& request, const Identify& identify,
                                    const Admit& admit) const {
  const auto segments = segments_of(request.path);
  if (!segments)
    return base::http::refusal(base::http::kBadRequest, "unknown path", "see /v1/openapi.json");
  const Route* route = nullptr;
  std::string allowed;
  for (const Route& each : routes_) {
    if (!fits(each, *segments)) continue;
    if (!allowed.empty()) allowed += ", ";
    allowed += each.method;
    if (each.method == request.method) route = &each;
  }
  if (allowed.empty())
    return base::http::refusal(base::http::kNotFound, "unknown path", "see /v1/openapi.json");
  if (route == nullptr) {
    base::http::Response response = base::http::refusal(
        base::http::kMethodNotAllowed, "this path does not accept this method", allowed);
    response.headers.emplace_back("Allow", allowed);
    return response;
  }
  Identity who{.owner = {}, .role = Role::Viewer};
  if (route->access != Access::Public) {
    base::Result<Identity> known = identify(request);
    if (!known) {
      base::http::Response response = base::http::refusal(base::http::kUnauthorized, known.error());
      response.headers.emplace_back("WWW-Authenticate", "Bearer");
      return response;
    }
    who = std::move(*known);
  }
  // Public paths return constant text, which costs no more than a refusal. Were they counted, one
  // stranger could keep all others from the dashboard, even from another address behind a proxy.
  const bool is_public = route->access == Access::Public;
  if (const double wait_s = is_public ? 0 : admit(who.owner.user); wait_s > 0) {
    base::http::Response response = base::http::refusal(
        base::http::kTooManyRequests, "too many requests", fmt::format("wait {:.1f} s", wait_s));
    response.headers.emplace_back("Retry-After", fmt::format("{}", std::ceil(wait_s)));
    return response;
  }
  const bool is_agent = who.role == Role::Agent;
  if (!is_public && is_agent != (route->access == Access::Agent) && !who.is_operator()) {
    return base::http::refusal(
        base::http::kForbidden,
        is_agent ? "agents may only report on their node" : "only agents are permitted to do this");
  }
  if (route->access == Access::Operator && !who.is_operator()) {
    return base::http::refusal(base::http::kForbidden, "only operators are permitted to do this");
  }
  Call call{.request = request, .who = who};
  for (size_t i = 0; i < segments->size(); ++i) {
    if (route->segments[i] == "{}") call.names.push_back((*segments)[i]);
  }
  return run(*route, call);
}

std::vector<std::string> Router::routes() const {
  std::vector<std::string> out;
  for (const Route& route : routes_) {
    out.push_back(fmt::format("{} /{}", route.method, fmt::join(route.segments, "/")));
  }
  return out;
}

}  // namespace goban::serve::api

// Maps method and path to a handler, after the caller is identified and authorised.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/http/http_message.hpp"
#include "serve/api/caller.hpp"

namespace goban::serve::api {

/// A request with everything its handler needs.
struct Call {
  const base::http::Request& request;
  const Identity& who;
  std::vector<std::string> names{};  ///< the path segments matched by {}, in order
  /// A query parameter; empty if it is not given.
  [[nodiscard]] std::string_view query(const std::string& name) const {
    const auto found = request.query.find(name);
    return found == request.query.end() ? std::string_view{} : std::string_view(found->second);
  }
};

using Handler = std::function<base::http::Response(const Call&)>;

enum class Access : uint8_t {
  Public,    ///< all who can connect
  Known,     ///< identified callers
  Operator,  ///< operators only
  Agent,     ///< agents of nodes, and operators; agents may call nothing else
};

class Router {
 public:
  /// `path` such as "/v1/jobs/{}/log"; {} matches one non-empty segment. `query` names the accepted
  /// query parameters: others are refused.
  void add(std::string method, std::string_view path, Access access, std::vector<std::string> query,
           Handler handler);

  /// Identifies the caller; errors become 401.
  using Identify = std::function<base::Result<Identity>(const base::http::Request&)>;
  /// Rate limit: returns 0, or the seconds that this user has to wait. Called once per request that
  /// is not for a public path.
  using Admit = std::function<double(const std::string& user)>;
  /// The response to a request. The router itself produces 401, 403, 404, 405, 429 and 500.
  [[nodiscard]] base::http::Response answer(const base::http::Request& request,
                                            const Identify& identify, const Admit& admit) const;
  /// All routes as "GET /v1/jobs/{}", in the order in which they were added.
  [[nodiscard]] std::vector<std::string> routes() const;

 private:
  struct Route {
    std::string method{};
    std::vector<std::string> segments{};
    Access access = Access::Known;
    std::vector<std::string> query{};
    Handler handler{};
  };
  [[nodiscard]] static bool fits(const Route& route, const std::vector<std::string>& segments);
  [[nodiscard]] static base::http::Response run(const Route& route, const Call& call);
  std::vector<Route> routes_;
};

}  // namespace goban::serve::api

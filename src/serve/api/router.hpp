// Which handler answers which method and path, after who asks is known and may ask at all.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/http/http_message.hpp"
#include "serve/api/caller.hpp"

namespace goban::serve::api {

/// A request with all that its handler needs.
struct Call {
  const base::http::Request& request;
  const Identity& who;
  std::vector<std::string> names{};  ///< what stood for {} in the path, in order
  /// A parameter of the query, or nothing.
  [[nodiscard]] std::string_view query(const std::string& name) const {
    const auto found = request.query.find(name);
    return found == request.query.end() ? std::string_view{} : std::string_view(found->second);
  }
};

using Handler = std::function<base::http::Response(const Call&)>;

enum class Access : uint8_t {
  Public,    ///< everybody who can connect
  Known,     ///< whoever is somebody
  Operator,  ///< operators only
};

class Router {
 public:
  /// `path` such as "/v1/jobs/{}/log"; {} stands for one segment that is not empty. `query` names
  /// the parameters it takes: others are refused.
  void add(std::string method, std::string_view path, Access access, std::vector<std::string> query,
           Handler handler);

  /// Tells who asks; errors become 401.
  using Identify = std::function<base::Result<Identity>(const base::http::Request&)>;
  /// Null, or why somebody has to wait; asked once for each request, public ones without a name.
  using Admit = std::function<double(const std::string& user)>;
  /// The answer; 401, 403, 404, 405, 429 and 500 are made here.
  [[nodiscard]] base::http::Response answer(const base::http::Request& request,
                                            const Identify& identify, const Admit& admit) const;

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

// Requests generated from openapi.json, valid and nearly valid: every response is described, and
// none is an internal error (500).
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/http/http_uri.hpp"
#include "base/random.hpp"
#include "serve/api/api_client.hpp"
#include "serve/api/test_service.hpp"

namespace goban::serve::api {
namespace {

using base::Random;
using nlohmann::json;

const char* pick(Random& random, std::initializer_list<const char*> from) {
  return from.begin()[random.below(from.size())];
}

json nonsense(Random& random) {
  switch (random.below(10)) {
    case 0:
      return nullptr;
    case 1:
      return true;
    case 2:
      return -1;
    case 3:
      return UINT64_MAX;
    case 4:
      return 1e300;
    case 5:
      return std::string(random.below(5000), 'x');
    case 6:
      return json::array({json::array(), json::object()});
    case 7:
      return {{"", ""}, {"\x01", "\x7f"}};
    case 8:
      return std::string("a\0b\x1b[2J", 7);
    default:
      return "";
  }
}

json make_value(const json& reference, Random& random, uint64_t wrong_pct);

json make_object(const json& schema, Random& random, uint64_t wrong_pct) {
  json out = json::object();
  const json none = json::object();
  for (const auto& [name, each] :
       (schema.contains("properties") ? schema["properties"] : none).items()) {
    if (random.below(100) < 40) out[name] = make_value(each, random, wrong_pct);
  }
  const json& others = schema["additionalProperties"];
  if (others.is_object()) out["NAME"] = make_value(others, random, wrong_pct);
  if (random.below(400) < wrong_pct)
    out[pick(random, {"owner", "num_gpu", "", "\n"})] = nonsense(random);
  return out;
}

/// A value that matches the schema, except for a given percentage of its parts.
json make_value(const json& reference, Random& random, uint64_t wrong_pct) {
  const json& schema = resolved(reference);
  if (random.below(100) < wrong_pct) return nonsense(random);
  const std::string type = schema["type"];
  if (schema.contains("enum")) return schema["enum"][random.below(schema["enum"].size())];
  if (type == "object") return make_object(schema, random, wrong_pct);
  if (type == "boolean") return random.below(2) == 0;
  if (type == "integer" || type == "number") {
    const auto least = schema.value("minimum", int64_t{-5});
    const auto most = schema.value("maximum", least + 20);
    if (random.below(8) == 0) return random.below(2) == 0 ? least : most;
    return least + static_cast<int64_t>(random.below(static_cast<uint64_t>(most - least) + 1)) / 3;
  }
  if (type == "array") {
    json list = json::array();
    for (uint64_t i = random.below(4); i > 0; --i) {
      list.push_back(make_value(schema["items"], random, wrong_pct));
    }
    return list;
  }
  return pick(random, {"A", "/tmp", "x", "a-b.c", "%j.out", "B"});
}

/// Changes some bytes.
std::string damaged(std::string text, Random& random) {
  for (uint64_t i = random.below(4); i > 0 && !text.empty(); --i) {
    const size_t at = random.below(text.size());
    switch (random.below(3)) {
      case 0:
        text[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        text.erase(at, random.below(10));
        break;
      default:
        text.insert(at, text.substr(random.below(text.size()), random.below(10)));
        break;
    }
  }
  return text;
}

/// A request for an operation of the description, with parameters and a body.
base::http::Request make_request(Random& random) {
  const json& paths = openapi()["paths"];
  auto path = paths.begin();
  std::advance(path, random.below(paths.size()));
  auto method = path->begin();
  std::advance(method, random.below(path->size()));
  base::http::Request request{.method = method.key()};
  for (char& c : request.method) c = static_cast<char>(c & ~0x20);
  if (random.below(30) == 0) request.method = pick(random, {"GET", "POST", "DELETE"});
  for (std::string_view rest = path.key(); !rest.empty();) {
    const size_t open = std::min(rest.find('{'), rest.size());
    request.path += rest.substr(0, open);
    rest.remove_prefix(open);
    if (rest.empty()) break;
    request.path += pick(random, {"1", "2", "3", "17", "1_0", "1_2", "n0", "n3", "0", "x", "%2e%2e",
                                  "%00", "-1", "4294967296", "1_", "_", "%F0%9F%98%80"});
    rest.remove_prefix(rest.find('}') + 1);
  }
  for (const json& parameter : method->value("parameters", json::array())) {
    if (parameter["in"] != "query" || random.below(3) > 0) continue;
    const json value = make_value(parameter["schema"], random, 20);
    request.query[parameter["name"]] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  if (random.below(40) == 0) request.query["no_such"] = "1";
  if (method->contains("requestBody")) {
    const auto content = (*method)["requestBody"]["content"].begin();
    const json& schema = content.value()["schema"];
    const uint64_t wrong_pct = random.below(3) == 0 ? 0 : 3;
    json body = make_value(schema, random, wrong_pct);
    if (path.key() == "/v1/jobs" && body.is_object() && random.below(4) > 0) {
      // Constraints that the schema cannot express, so that some requests are accepted.
      body["script"] = "x";
      body["work_folder"] = "/tmp";
      body.erase("user");
      body.erase("array_tasks");
      body.erase("dependencies");
    }
    const bool is_text = content.key() != "application/json" && body.is_string();
    request.body = is_text ? body.get<std::string>()
                           : body.dump(-1, ' ', false, json::error_handler_t::replace);
    if (random.below(10) == 0) request.body = damaged(request.body, random);
  }
  return request;
}

class ApiFuzz : public ServiceTest {};

TEST_F(ApiFuzz, EveryAnswerIsDescribed) {
  constexpr uint64_t kSeed = 20261121;
  constexpr int kRequests = 10'000;
  start();
  Random random(kSeed);
  std::map<int, int> counts;
  for (int i = 0; i < kRequests; ++i) {
    base::http::Request request = make_request(random);
    request.token = pick(random, {kAlice, kAlice, kBob, kManager, kViewer, kOperator, "", "x"});
    const base::http::Response response = service->answer(request);
    ++counts[response.status];
    ASSERT_NE(response.status, 500) << request.method << ' ' << request.path << '\n'
                                    << request.body;
    ASSERT_EQ(answer_problem(request, response), "") << request.body;
    if (response.stream != nullptr) {
      std::string out;
      (void)response.stream->fill(out, 1 << 16);
    }
  }
  // The generator must reach every status.
  for (const int status : {200, 201, 400, 401, 403, 404, 409}) {
    EXPECT_GT(counts[status], 20) << "status " << status;
  }
}

TEST_F(ApiFuzz, DamagedBytesOnTheSocketEndNothing) {
  constexpr uint64_t kSeed = 7;
  options.socket = folder + "/sock";
  options.limits.connections_peer_max = 1000;
  start();
  Random random(kSeed);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  options.socket.copy(address.sun_path, sizeof address.sun_path - 1);
  for (int i = 0; i < 400; ++i) {
    const base::http::Request request = make_request(random);
    std::string text = request.method + " " + request.path + " HTTP/1.1\r\nHost: x\r\n" +
                       "Content-Length: " + std::to_string(request.body.size()) + "\r\n\r\n" +
                       request.body;
    text = damaged(text, random);
    const int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    [[maybe_unused]] const ssize_t sent = ::send(client, text.data(), text.size(), MSG_NOSIGNAL);
    ::close(client);
  }
  ApiClient client({.socket = options.socket});
  EXPECT_TRUE(client.get("/v1/stats").has_value());
}

}  // namespace
}  // namespace goban::serve::api

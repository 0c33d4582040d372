#include "live/engine/kubernetes/api.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/clock.hpp"
#include "base/json_fields.hpp"
#include "base/printable.hpp"
#include "base/spawn.hpp"
#include "base/text.hpp"
#include "base/text_file.hpp"

namespace goban::live::engine::kubernetes {

namespace {

using base::steady_s;
using base::http::HttpAnswer;
using base::http::HttpCall;
using base::http::HttpFailure;

constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kBadRequest = 400;
constexpr int kInvalid = 422;
constexpr int kTooMany = 429;
constexpr int kErrors = 500;
constexpr size_t kTokenMost = size_t{64} << 10;
constexpr double kTokenAge_s = 60;
constexpr int kPatience = 3;
constexpr double kPatienceMost_s = 10;

/// What a program prints, at most kTokenMost bytes within a time; empty: it failed.
std::string output_of(const Access& access) {
  constexpr double kTimeout_s = 20;
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return {};
  std::vector<std::string> environment = access.plugin_environment;
  for (char** each = environ; *each != nullptr; ++each) environment.emplace_back(*each);
  const pid_t child = base::spawn(
      access.plugin,
      {.environment = std::move(environment), .out = ends[1], .group = base::SpawnGroup::Own});
  ::close(ends[1]);
  std::string out;
  int status = -1;
  const double end_s = steady_s() + kTimeout_s;
  for (bool ended = child == 0; !ended;) {
    ended = ::waitpid(child, &status, WNOHANG) == child;
    if (!ended && steady_s() > end_s) {
      ::kill(-child, SIGKILL);
      ended = ::waitpid(child, &status, 0) == child;
      status = -1;
    }
    std::string piece(kTokenMost, '\0');
    for (ssize_t got = 0; (got = ::read(ends[0], piece.data(), piece.size())) > 0;) {
      if (out.size() < kTokenMost) out.append(piece, 0, static_cast<size_t>(got));
    }
    if (!ended) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::close(ends[0]);
  return status == 0 ? out : std::string();
}

/// The API server's words for a failure; bounded, without control characters.
std::string words_of(const HttpAnswer& answer) {
  constexpr size_t kMost = 300;
  const auto document = nlohmann::json::parse(answer.body, nullptr, false);
  std::string words = document.is_object() ? base::text_of(document, "message") : std::string();
  if (words.empty()) words = answer.body;
  return fmt::format("HTTP {}: {}", answer.status, base::printable(words.substr(0, kMost)));
}

}  // namespace

std::string Credentials::token(const std::string& refused) {
  const std::scoped_lock lock(mutex_);
  if (access_.token_file.empty() && access_.plugin.empty()) return access_.token;
  const bool again = !refused.empty() && refused == token_;
  if (asked_s_ >= 0 && steady_s() < asked_s_ + kTokenAge_s && !again) return token_;
  asked_s_ = steady_s();
  if (!access_.token_file.empty()) {
    const auto text = base::read_text_file(access_.token_file, kTokenMost);
    if (text) token_ = base::trimmed(*text);
  } else if (auto token = token_of_plugin(output_of(access_)); token) {
    token_ = std::move(*token);
  }
  // A header is one line.
  if (std::ranges::any_of(token_, [](char c) { return c <= ' ' || c > '~'; })) token_.clear();
  return token_;
}

void Credentials::take_turn(const std::atomic<bool>& ending) {
  if (requests_s_ <= 0) return;
  double wait_s = 0;
  {
    const std::scoped_lock lock(mutex_);
    const double now_s = base::steady_s();
    next_s_ = std::max(next_s_, now_s - 1) + 1 / requests_s_;
    wait_s = next_s_ - now_s;
  }
  const double end_s = base::steady_s() + wait_s;
  while (!ending && base::steady_s() < end_s) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

HttpCall Api::call_of(const std::string& method, const std::string& path,
                      const std::string& token) const {
  const Access& access = credentials_->access();
  HttpCall call{
      .method = method, .url = access.server + path, .headers = {"Accept: application/json"}};
  call.ca_text = access.ca;
  call.certificate_text = access.certificate;
  call.key_text = access.key;
  call.timeout_s = timeout_s_;
  call.connect_s = std::min(call.connect_s, timeout_s_);
  if (!token.empty()) call.headers.push_back("Authorization: Bearer " + token);
  call.keeps_on = [this] { return !*ending_; };
  return call;
}

ApiAnswer Api::once(HttpCall call) {
  credentials_->take_turn(*ending_);
  HttpAnswer answer = client_.send(call);
  if (answer.status == kUnauthorized && answer.failure == HttpFailure::None) {
    const std::string before = credentials_->token();
    const std::string token = credentials_->token(before);
    if (!token.empty() && token != before) {
      std::erase_if(call.headers,
                    [](const std::string& each) { return each.starts_with("Authorization:"); });
      call.headers.push_back("Authorization: Bearer " + token);
      answer = client_.send(call);
    }
  }
  ApiAnswer out{.status = answer.status,
                .retry_after_s = static_cast<double>(answer.retry_after_s)};
  if (answer.failure != HttpFailure::None) {
    out.problem = "the API server does not answer: " + base::printable(answer.problem);
    out.unknown =
        answer.failure != HttpFailure::NotConnected && answer.failure != HttpFailure::Untrusted;
  } else if (!answer.fine()) {
    out.problem = words_of(answer);
    out.unknown = answer.status >= kErrors;
  } else {
    out.body = std::move(answer.body);
  }
  return out;
}

bool is_refusal(const ApiAnswer& answer) {
  constexpr std::array kRefused = {kBadRequest, kUnauthorized, kForbidden, kInvalid};
  return !answer.fine() && !answer.unknown &&
         std::ranges::find(kRefused, answer.status) != kRefused.end();
}

std::string with_remedy(std::string problem) {
  if (problem.find("HTTP 401") != std::string::npos) {
    problem +=
        " (its token or certificate is not valid any more: renew it in the kubeconfig, and start "
        "the daemon again)";
  } else if (problem.find("HTTP 403") != std::string::npos) {
    problem += " (apply what goban engine kubernetes manifests prints, again)";
  } else if (problem.find("HTTP 422") != std::string::npos) {
    problem += " (an admission policy of the cluster refuses it)";
  }
  return problem;
}

std::string kind_of_request(std::string_view method, std::string_view path) {
  constexpr std::string_view kSpace = "/namespaces/";
  if (const size_t space = path.find(kSpace); space != std::string_view::npos) {
    path.remove_prefix(std::min(path.find('/', space + kSpace.size()), path.size()));
  }
  path.remove_prefix(path.starts_with('/') ? 1 : 0);
  const size_t name = path.find('/');
  std::string out = fmt::format("{} {}", method, path.substr(0, name));
  if (name == std::string_view::npos) return out;
  const size_t part = path.find('/', name + 1);
  if (part != std::string_view::npos) out += path.substr(part);
  return out;
}

ApiAnswer Api::get(const std::string& path) {
  return once(call_of("GET", path, credentials_->token()));
}

ApiAnswer Api::write(const std::string& method, const std::string& path, std::string body) {
  HttpCall call = call_of(method, path, credentials_->token());
  // Conditions of a status are merged by their type.
  const char* kind = method != "PATCH"           ? "json"
                     : path.ends_with("/status") ? "strategic-merge-patch+json"
                                                 : "merge-patch+json";
  call.headers.push_back(fmt::format("Content-Type: application/{}", kind));
  call.body = std::move(body);
  for (int tried = 0;; ++tried) {
    ApiAnswer answer = once(call);
    if (answer.status != kTooMany || tried == kPatience || *ending_) return answer;
    const double pause_s = std::clamp(answer.retry_after_s, 0.1, kPatienceMost_s);
    const double end_s = steady_s() + pause_s;
    while (!*ending_ && steady_s() < end_s) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
}

ApiAnswer Api::stream(const std::string& path, const std::function<bool(std::string_view)>& take,
                      double silence_s) {
  HttpCall call = call_of("GET", path, credentials_->token());
  double heard_s = steady_s();
  call.timeout_s = 0;
  // Who compresses a stream keeps events back until a block is full.
  call.headers.emplace_back("Accept-Encoding: identity");
  call.take = [&](std::string_view piece) {
    heard_s = steady_s();
    return !*ending_ && take(piece);
  };
  call.keeps_on = [&] { return !*ending_ && steady_s() < heard_s + silence_s; };
  return once(std::move(call));
}

}  // namespace goban::live::engine::kubernetes

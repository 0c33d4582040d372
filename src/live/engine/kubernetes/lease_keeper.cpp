#include "live/engine/kubernetes/lease_keeper.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/printable.hpp"

namespace goban::live::engine::kubernetes {

namespace {

constexpr int kMissing = 404;
constexpr double kLooks = 20;    ///< in the time of a take-over
constexpr double kTimeouts = 5;  ///< likewise
constexpr double kLookMost_s = 1;

std::optional<LeaseRecord> lease_in(const std::string& body) {
  return read_lease(nlohmann::json::parse(body, nullptr, false));
}

}  // namespace

std::string lease_path(std::string_view place) {
  const size_t slash = place.find('/');
  return fmt::format("/apis/coordination.k8s.io/v1/namespaces/{}/leases/{}",
                     base::http::url_part(place.substr(0, slash)),
                     base::http::url_part(place.substr(slash + 1)));
}

LeaseKeeper::LeaseKeeper(std::shared_ptr<Credentials> credentials, std::string place,
                         const LeaseTerms& terms, std::function<void()> changed)
    : credentials_(std::move(credentials)),
      place_(std::move(place)),
      path_(lease_path(place_)),
      takeover_ns_(terms.takeover_ns),
      changed_(std::move(changed)),
      leadership_(terms),
      thread_([this] { run(); }) {}

LeaseKeeper::~LeaseKeeper() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void LeaseKeeper::beat() {
  const std::scoped_lock lock(mutex_);
  if (beat_ns_ < 0) wake_.notify_all();
  beat_ns_ = base::steady_ns();
}

bool LeaseKeeper::may_write() const {
  const std::scoped_lock lock(mutex_);
  return leadership_.may_write(base::steady_ns());
}

bool LeaseKeeper::is_lost() const {
  const std::scoped_lock lock(mutex_);
  return leadership_.is_lost();
}

uint64_t LeaseKeeper::epoch() const {
  const std::scoped_lock lock(mutex_);
  return leadership_.epoch();
}

uint64_t LeaseKeeper::first_epoch() const {
  const std::scoped_lock lock(mutex_);
  return leadership_.first_epoch();
}

std::string LeaseKeeper::problem() const {
  const std::scoped_lock lock(mutex_);
  return problem_;
}

void LeaseKeeper::run() {
  const double takeover_s = base::to_seconds(takeover_ns_);
  Api api(credentials_, ending_, takeover_s / kTimeouts);
  bool could_write = false;
  while (!ending_) {
    step(api);
    if (const bool can_write = may_write(); can_write != could_write) {
      could_write = can_write;
      changed_();
    }
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::duration<double>(std::min(takeover_s / kLooks, kLookMost_s)),
                   [&, before = beat_ns_] { return ending_ || (before < 0 && beat_ns_ >= 0); });
  }
}

void LeaseKeeper::look(Api& api) {
  const ApiAnswer answer = api.get(path_);
  const auto lease = answer.fine() ? lease_in(answer.body) : std::nullopt;
  const std::scoped_lock lock(mutex_);
  is_known_ = lease.has_value() || answer.status == kMissing;
  problem_ = is_known_ ? "" : "the Lease " + place_ + ": " + answer.problem;
  if (!is_known_) return;
  leadership_.saw(lease, base::steady_ns());
  if (lease && !lease->holder.empty() && !leadership_.is_ours()) {
    problem_ = base::printable("the Lease " + place_ + " is held by " + lease->holder) +
               ", which decides; this daemon stands by";
  }
}

void LeaseKeeper::step(Api& api) {
  bool is_ours = false;
  {
    const std::scoped_lock lock(mutex_);
    is_ours = is_known_ && leadership_.is_ours();
  }
  if (!is_ours) look(api);
  std::optional<LeaseRecord> next;
  const TimeNs sent_ns = base::steady_ns();
  {
    const std::scoped_lock lock(mutex_);
    if (is_known_) next = leadership_.next(beat_ns_, sent_ns);
  }
  if (!next) return;
  const std::string body = lease_body(place_, *next, base::wall_ns());
  const ApiAnswer answer = next->version.empty()
                               ? api.write("POST", path_.substr(0, path_.rfind('/')), body)
                               : api.write("PUT", path_, body);
  const auto lease = answer.fine() ? lease_in(answer.body) : std::nullopt;
  const std::scoped_lock lock(mutex_);
  if (lease) {
    leadership_.wrote(*lease, sent_ns);
    problem_.clear();
    return;
  }
  is_known_ = false;  // somebody was faster, or nobody knows
  problem_ = "the Lease " + place_ + ": " + answer.problem;
}

}  // namespace goban::live::engine::kubernetes

#include "train/comm/thread_world.hpp"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/clock.hpp"
#include "train/comm/reduce.hpp"

namespace goban::train::comm {

/// The synchronisation point of one group. Each member stores its call and buffers; when all have
/// arrived, they continue together.
struct Meeting {
  struct Place {
    Call call;
    const std::byte* send = nullptr;
    std::vector<std::byte> scratch;
    bool arrived = false;
  };
  explicit Meeting(size_t members) : places(members) {}
  std::vector<Place> places;
  size_t arrived = 0;
  uint64_t round = 0;
};

struct ThreadWorld::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::vector<int>, std::unique_ptr<Meeting>> meetings;
  std::vector<std::string> last_seen;  // per rank: the call it last began
  std::string abandoned;               // why the world ended; empty while it is usable
  std::shared_ptr<Shared> companion;   // of the ranks' second communicators; made by the first
};

namespace {

class ThreadEnd final : public Communicator {
 public:
  ThreadEnd(int rank, int size, Options options, std::shared_ptr<ThreadWorld::Shared> shared)
      : Communicator(rank, size, options), shared_(std::move(shared)) {}

  void abandon(const std::string& reason) override {
    const std::scoped_lock lock(shared_->mutex);
    if (shared_->abandoned.empty()) {
      shared_->abandoned = fmt::format("rank {} gave up: {}", rank(), reason);
    }
    shared_->changed.notify_all();
    if (!shared_->companion) return;
    const std::scoped_lock second(shared_->companion->mutex);
    shared_->companion->abandoned = shared_->abandoned;
    shared_->companion->changed.notify_all();
  }
  base::Result<std::unique_ptr<Communicator>> companion() override {
    const std::scoped_lock lock(shared_->mutex);
    if (!shared_->companion) {
      shared_->companion = std::make_shared<ThreadWorld::Shared>();
      shared_->companion->last_seen.resize(static_cast<size_t>(size()));
    }
    return std::make_unique<ThreadEnd>(rank(), size(), options(), shared_->companion);
  }

 protected:
  base::Status run_all_reduce(const Group& group, const Call& call,
                              std::span<std::byte> data) override {
    const size_t width = element_bytes(call.element);
    const size_t count = data.size() / width;
    const size_t n = group.size();
    const size_t me = group.index_of(rank());
    Meeting& meeting = meeting_of(group);
    if (auto met = meet(meeting, group, call, data.data()); !met) return met;
    const Part mine = part_of(count, n, me);
    std::vector<std::byte>& scratch = meeting.places[me].scratch;
    scratch.resize(mine.size() * width);
    reduce_in_order(call.element, call.reduction, sources(meeting, mine.first * width),
                    scratch.data(), mine.size());
    pass(meeting, group);
    for (size_t i = 0; i < n; ++i) {
      const Part part = part_of(count, n, i);
      if (part.size() == 0) continue;
      std::memcpy(data.data() + part.first * width, meeting.places[i].scratch.data(),
                  part.size() * width);
    }
    pass(meeting, group);
    return {};
  }

  base::Status run_all_gather(const Group& group, const Call& call, std::span<const std::byte> mine,
                              std::span<std::byte> all) override {
    Meeting& meeting = meeting_of(group);
    if (auto met = meet(meeting, group, call, mine.data()); !met) return met;
    for (size_t i = 0; i < group.size() && !mine.empty(); ++i) {
      std::memcpy(all.data() + i * mine.size(), meeting.places[i].send, mine.size());
    }
    pass(meeting, group);
    return {};
  }

  base::Status run_all_to_all(const Group& group, const Call& call, std::span<const std::byte> send,
                              std::span<std::byte> receive) override {
    Meeting& meeting = meeting_of(group);
    if (auto met = meet(meeting, group, call, send.data()); !met) return met;
    const size_t block = send.size() / group.size();
    const size_t me = group.index_of(rank());
    for (size_t i = 0; i < group.size() && block > 0; ++i) {
      std::memcpy(receive.data() + i * block, meeting.places[i].send + me * block, block);
    }
    pass(meeting, group);
    return {};
  }

  base::Status run_reduce_scatter(const Group& group, const Call& call,
                                  std::span<const std::byte> data,
                                  std::span<std::byte> mine) override {
    Meeting& meeting = meeting_of(group);
    if (auto met = meet(meeting, group, call, data.data()); !met) return met;
    reduce_in_order(call.element, call.reduction,
                    sources(meeting, group.index_of(rank()) * mine.size()), mine.data(),
                    mine.size() / element_bytes(call.element));
    pass(meeting, group);
    return {};
  }

  base::Status run_broadcast(const Group& group, const Call& call, std::span<std::byte> data,
                             size_t root_index) override {
    Meeting& meeting = meeting_of(group);
    if (auto met = meet(meeting, group, call, data.data()); !met) return met;
    if (group.index_of(rank()) != root_index && !data.empty()) {
      std::memcpy(data.data(), meeting.places[root_index].send, data.size());
    }
    pass(meeting, group);
    return {};
  }

  base::Status run_exchange(const Group& group, const Call& call, std::optional<size_t>,
                            std::span<const std::byte> send, std::optional<size_t> from,
                            std::span<std::byte> receive) override {
    Meeting& meeting = meeting_of(group);
    if (auto met = meet(meeting, group, call, send.data()); !met) return met;
    if (from && !receive.empty()) {
      std::memcpy(receive.data(), meeting.places[*from].send, receive.size());
    }
    pass(meeting, group);
    return {};
  }

  base::Status run_barrier(const Group& group, const Call& call) override {
    Meeting& meeting = meeting_of(group);
    if (auto met = meet(meeting, group, call, nullptr); !met) return met;
    pass(meeting,
         group);  // no member's next call may overwrite a call that is still being compared
    return {};
  }

 private:
  Meeting& meeting_of(const Group& group) {
    const std::scoped_lock lock(shared_->mutex);
    auto& meeting = shared_->meetings[group.ranks];
    if (!meeting) meeting = std::make_unique<Meeting>(group.size());
    return *meeting;
  }

  static std::vector<const std::byte*> sources(const Meeting& meeting, size_t offset) {
    std::vector<const std::byte*> out;
    for (const auto& place : meeting.places) out.push_back(place.send + offset);
    return out;
  }

  /// Stores the call and the buffer, waits for all members, and compares the calls.
  base::Status meet(Meeting& meeting, const Group& group, const Call& call, const std::byte* send) {
    {
      const std::scoped_lock lock(shared_->mutex);
      auto& place = meeting.places[group.index_of(rank())];
      place.call = call;
      place.send = send;
      shared_->last_seen[static_cast<size_t>(rank())] = call.text();
    }
    const double called_s = base::steady_s();
    if (auto passed = wait_for_all(meeting, group, call); !passed) return passed;
    peers_arrived(called_s);
    for (size_t i = 0; i < group.size(); ++i) {
      if (meeting.places[i].call == call) continue;
      return base::failed(fmt::format("ranks diverged: rank {} is in {}, rank {} is in {}", rank(),
                                      call.text(), group.ranks[i], meeting.places[i].call.text()),
                          "every rank must run the same program with the same options");
    }
    return {};
  }

  /// Records an arrival. The last member releases all; returns true for that member.
  static bool arrive(Meeting& meeting, Meeting::Place& place, std::condition_variable& changed) {
    place.arrived = true;
    if (++meeting.arrived < meeting.places.size()) return false;
    meeting.arrived = 0;
    ++meeting.round;
    for (auto& each : meeting.places) each.arrived = false;
    changed.notify_all();
    return true;
  }

  /// Waits until every member has arrived at the call, or the world ends.
  base::Status wait_for_all(Meeting& meeting, const Group& group, const Call& call) {
    std::unique_lock lock(shared_->mutex);
    const auto ended = [&] {
      return base::failed(
          fmt::format("rank {} stopped in {}: {}", rank(), call.text(), shared_->abandoned));
    };
    // Members that arrived earlier may have left, and their buffers may be invalid.
    if (!shared_->abandoned.empty()) return ended();
    const uint64_t round = meeting.round;
    if (arrive(meeting, meeting.places[group.index_of(rank())], shared_->changed)) return {};
    const auto patience = std::chrono::duration<double>(options().timeout_s);
    const bool in_time = shared_->changed.wait_for(
        lock, patience, [&] { return meeting.round != round || !shared_->abandoned.empty(); });
    if (meeting.round != round) return {};
    if (!in_time) shared_->abandoned = missing(meeting, group, call);
    shared_->changed.notify_all();
    return ended();
  }

  /// Waits until every member is done with the buffers of the others. All of them have arrived and
  /// do not wait before this point. Until then no member leaves, even if the world has ended.
  void pass(Meeting& meeting, const Group& group) {
    std::unique_lock lock(shared_->mutex);
    const uint64_t round = meeting.round;
    if (arrive(meeting, meeting.places[group.index_of(rank())], shared_->changed)) return;
    shared_->changed.wait(lock, [&] { return meeting.round != round; });
  }

  std::string missing(const Meeting& meeting, const Group& group, const Call& call) const {
    std::string text = fmt::format("timeout after {} s in {}", options().timeout_s, call.text());
    for (size_t i = 0; i < group.size(); ++i) {
      if (meeting.places[i].arrived) continue;
      const auto& seen = shared_->last_seen[static_cast<size_t>(group.ranks[i])];
      text += fmt::format("; rank {} did not arrive ({})", group.ranks[i],
                          seen.empty() ? "not seen yet" : "last seen in " + seen);
    }
    return text;
  }

  std::shared_ptr<ThreadWorld::Shared> shared_;
};

}  // namespace

ThreadWorld::ThreadWorld(int size, Options options) : shared_(std::make_shared<Shared>()) {
  shared_->last_seen.resize(static_cast<size_t>(size));
  for (int rank = 0; rank < size; ++rank) {
    ends_.push_back(std::make_unique<ThreadEnd>(rank, size, options, shared_));
  }
}

ThreadWorld::~ThreadWorld() = default;

Communicator& ThreadWorld::communicator(int rank) { return *ends_[static_cast<size_t>(rank)]; }

base::Status run_threads(int size, Options options,
                         const std::function<base::Status(Communicator&)>& body) {
  ThreadWorld world(size, options);
  std::mutex mutex;
  std::optional<base::Error> first;
  const auto run_rank = [&](int rank) {
    Communicator& end = world.communicator(rank);
    if (const base::Status status = body(end); !status) {
      {
        const std::scoped_lock lock(mutex);
        if (!first) first = status.error();
      }
      end.abandon(status.error().message);
    }
  };
  std::vector<std::thread> threads;
  try {
    for (int rank = 0; rank < size; ++rank) threads.emplace_back(run_rank, rank);
  } catch (const std::system_error& error) {
    // Those that run wait for the others.
    {
      const std::scoped_lock lock(mutex);
      first = {
          base::ErrorCode::Failed,
          fmt::format("cannot start {} threads, only {}: {}", size, threads.size(), error.what()),
          {},
          "use fewer ranks, or raise the limit on processes (ulimit -u)"};
    }
    world.communicator(0).abandon(first->message);
  }
  for (std::thread& thread : threads) thread.join();
  if (first) return base::failure(*first);
  return {};
}

}  // namespace goban::train::comm

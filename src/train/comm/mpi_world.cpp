#include "train/comm/mpi_world.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <mpi.h>
#include <sched.h>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "train/comm/call_watch.hpp"
#include "train/comm/launcher.hpp"
#include "train/comm/mpi_ops.hpp"
#include "train/comm/pieces.hpp"
#include "train/comm/reduce.hpp"

namespace goban::train::comm {
namespace {

constexpr int kHeaderTag = 7;
constexpr int kDataTag = 8;
// Up to this size the blocking call is used, which is several times faster. All peers have arrived
// by then, so the only remaining failure is a peer that exits or stops, which the watch reports.
constexpr size_t kBlockingBytes = 16 << 20;

void tell(const std::string& text) {
  std::fprintf(stderr, "goban: %s\n", text.c_str());
  std::fflush(stderr);
}

CallWatch::Settings watch_settings(int rank, int size, const Options& options) {
  CallWatch::Settings out;
  out.rank = rank;
  out.size = size;
  out.timeout_s = options.timeout_s;
  out.first_word_s = std::min(10.0, options.timeout_s / 2);
  out.say = tell;
  // This thread must not call MPI_Abort; the launcher ends the other ranks when one exits like
  // this.
  out.end = [](const std::string& text) {
    tell(text + "; ending the run");
    std::_Exit(1);
  };
  return out;
}

class MpiEnd final : public Communicator {
 public:
  /// `world`: MPI_COMM_WORLD, or a duplicate of it for a companion, which is freed.
  MpiEnd(int rank, int size, Options options, MPI_Comm world)
      : Communicator(rank, size, options),
        world_(world),
        watch_(watch_settings(rank, size, options)) {}
  ~MpiEnd() override {
    if (is_companion()) {
      // After a failure, its first communicator ends all ranks.
      if (failed_) return;
      for (auto& [ranks, handle] : handles_) MPI_Comm_free(&handle);
      MPI_Comm_free(&world_);
      return;
    }
    if (failed_) {
      // Peers may never reach MPI_Finalize: end them, too.
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (auto& [ranks, handle] : handles_) MPI_Comm_free(&handle);
    MPI_Finalize();
  }

  int local_rank() const override { return launcher_local_rank(); }
  base::Result<std::unique_ptr<Communicator>> companion() override {
    int provided = 0;
    MPI_Query_thread(&provided);
    if (provided != MPI_THREAD_MULTIPLE) {
      return base::failed("this MPI library does not admit several threads", "use --overlap off");
    }
    MPI_Comm second = MPI_COMM_NULL;
    MPI_Comm_dup(world_, &second);
    return std::make_unique<MpiEnd>(rank(), size(), options(), second);
  }
  void abandon(const std::string& reason) override {
    if (is_companion()) {
      stop_ = true;  // its thread leaves its call
      return;
    }
    tell(fmt::format("rank {} ends the run: {}", rank(), reason));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

 protected:
  base::Status run_all_reduce(const Group& group, const Call& call,
                              std::span<std::byte> data) override {
    const CallWatch::Inside inside(watch_, call);
    if (auto met = meet(group, call); !met) return met;
    const bool by_library = !options().fixed_order && call.element != Element::BF16;
    return in_pieces(data.size(), most(), [&](size_t first, size_t size) {
      const auto piece = data.subspan(first, size);
      return by_library ? reduce_by_library(group, call, piece)
                        : reduce_in_rank_order(group, call, piece);
    });
  }

  base::Status run_all_gather(const Group& group, const Call& call, std::span<const std::byte> mine,
                              std::span<std::byte> all) override {
    const CallWatch::Inside inside(watch_, call);
    if (auto met = meet(group, call); !met) return met;
    const auto gather = [&](std::span<const std::byte> part, std::byte* into) {
      MPI_Request request = MPI_REQUEST_NULL;
      const int count = static_cast<int>(part.size());
      MPI_Iallgather(part.data(), count, MPI_BYTE, into, count, MPI_BYTE, handle_of(group),
                     &request);
      return wait(&request, 1, call);
    };
    if (all.size() <= most()) return gather(mine, all.data());
    std::vector<std::byte> parts;
    return in_pieces(mine.size(), most() / group.size(), [&](size_t first, size_t size) {
      parts.resize(size * group.size());
      const base::Status done = gather(mine.subspan(first, size), parts.data());
      if (done) put_into_blocks(parts.data(), mine.size(), first, size, all);
      return done;
    });
  }

  base::Status run_all_to_all(const Group& group, const Call& call, std::span<const std::byte> send,
                              std::span<std::byte> receive) override {
    const CallWatch::Inside inside(watch_, call);
    if (auto met = meet(group, call); !met) return met;
    const auto exchange_blocks = [&](const std::byte* from, std::byte* into, size_t block) {
      MPI_Request request = MPI_REQUEST_NULL;
      const int count = static_cast<int>(block);
      MPI_Ialltoall(from, count, MPI_BYTE, into, count, MPI_BYTE, handle_of(group), &request);
      return wait(&request, 1, call);
    };
    const size_t n = group.size(), block = send.size() / n;
    if (send.size() <= most()) return exchange_blocks(send.data(), receive.data(), block);
    std::vector<std::byte> out, in;
    return in_pieces(block, most() / n, [&](size_t first, size_t size) {
      out.resize(size * n);
      in.resize(size * n);
      take_from_blocks(send, block, first, size, out.data());
      const base::Status done = exchange_blocks(out.data(), in.data(), size);
      if (done) put_into_blocks(in.data(), block, first, size, receive);
      return done;
    });
  }

  base::Status run_reduce_scatter(const Group& group, const Call& call,
                                  std::span<const std::byte> data,
                                  std::span<std::byte> mine) override {
    const CallWatch::Inside inside(watch_, call);
    if (auto met = meet(group, call); !met) return met;
    const size_t n = group.size();
    std::vector<std::byte> blocks, reduced;
    return in_pieces(mine.size(), most() / n, [&](size_t first, size_t size) {
      std::vector<int> lengths(n, static_cast<int>(size)), starts(n);
      for (size_t i = 0; i < n; ++i) starts[i] = static_cast<int>(i * size);
      const bool whole = size == mine.size();
      if (!whole) {
        blocks.resize(size * n);
        take_from_blocks(data, mine.size(), first, size, blocks.data());
      }
      const base::Status done = scatter_reduced(
          group, call, whole ? data : std::span<const std::byte>(blocks), lengths, starts, reduced);
      if (done) std::ranges::copy(reduced, mine.begin() + static_cast<std::ptrdiff_t>(first));
      return done;
    });
  }

  base::Status run_broadcast(const Group& group, const Call& call, std::span<std::byte> data,
                             size_t root_index) override {
    const CallWatch::Inside inside(watch_, call);
    if (auto met = meet(group, call); !met) return met;
    return in_pieces(data.size(), most(), [&](size_t first, size_t size) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ibcast(data.data() + first, static_cast<int>(size), MPI_BYTE,
                 static_cast<int>(root_index), handle_of(group), &request);
      return wait(&request, 1, call);
    });
  }

  base::Status run_exchange(const Group& group, const Call& call, std::optional<size_t> to,
                            std::span<const std::byte> send, std::optional<size_t> from,
                            std::span<std::byte> receive) override {
    const CallWatch::Inside inside(watch_, call);
    if (auto met = meet(group, call); !met) return met;
    return in_pieces(send.size(), most(), [&](size_t first, size_t size) {
      const int count = static_cast<int>(size);
      MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      if (from) {
        MPI_Irecv(receive.data() + first, count, MPI_BYTE, static_cast<int>(*from), kDataTag,
                  handle_of(group), &requests[0]);
      }
      if (to) {
        MPI_Isend(send.data() + first, count, MPI_BYTE, static_cast<int>(*to), kDataTag,
                  handle_of(group), &requests[1]);
      }
      return wait(requests, 2, call);
    });
  }

  base::Status run_barrier(const Group& group, const Call& call) override {
    const CallWatch::Inside inside(watch_, call);
    return meet(group, call);
  }

 private:
  /// Maximum bytes of one message; for collectives, of the larger buffer of one call.
  size_t most() const { return options().largest_message; }

  base::Status reduce_by_library(const Group& group, const Call& call, std::span<std::byte> data) {
    const int count = static_cast<int>(data.size() / element_bytes(call.element));
    const MPI_Datatype type = mpi_type(call.element);
    const MPI_Op op = mpi_op(call.element, call.reduction);
    if (data.size() <= kBlockingBytes) {
      MPI_Allreduce(MPI_IN_PLACE, data.data(), count, type, op, handle_of(group));
      return {};
    }
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, data.data(), count, type, op, handle_of(group), &request);
    return wait(&request, 1, call);
  }

  base::Status reduce_in_rank_order(const Group& group, const Call& call,
                                    std::span<std::byte> data) {
    const size_t width = element_bytes(call.element);
    const size_t count = data.size() / width;
    std::vector<int> lengths(group.size()), starts(group.size());
    for (size_t i = 0; i < group.size(); ++i) {
      const Part part = part_of(count, group.size(), i);
      lengths[i] = static_cast<int>(part.size() * width);
      starts[i] = static_cast<int>(part.first * width);
    }
    std::vector<std::byte> reduced;
    if (auto done = scatter_reduced(group, call, data, lengths, starts, reduced); !done) {
      return done;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgatherv(reduced.data(), static_cast<int>(reduced.size()), MPI_BYTE, data.data(),
                    lengths.data(), starts.data(), MPI_BYTE, handle_of(group), &request);
    return wait(&request, 1, call);
  }

  /// Sends each member its part of `data`; each member reduces what it receives in group order.
  base::Status scatter_reduced(const Group& group, const Call& call,
                               std::span<const std::byte> data, const std::vector<int>& lengths,
                               const std::vector<int>& starts, std::vector<std::byte>& reduced) {
    const size_t n = group.size();
    const auto mine = static_cast<size_t>(lengths[group.index_of(rank())]);
    std::vector<std::byte> received(mine * n);
    std::vector<int> receive_lengths(n, static_cast<int>(mine)), receive_starts(n);
    std::vector<const std::byte*> sources(n);
    for (size_t i = 0; i < n; ++i) {
      receive_starts[i] = static_cast<int>(i * mine);
      sources[i] = received.data() + i * mine;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ialltoallv(data.data(), lengths.data(), starts.data(), MPI_BYTE, received.data(),
                   receive_lengths.data(), receive_starts.data(), MPI_BYTE, handle_of(group),
                   &request);
    if (auto done = wait(&request, 1, call); !done) return done;
    reduced.resize(mine);
    reduce_in_order(call.element, call.reduction, sources, reduced.data(),
                    mine / element_bytes(call.element));
    return {};
  }

  MPI_Comm handle_of(const Group& group) {
    const auto found = handles_.find(group.ranks);
    if (found != handles_.end()) return found->second;
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Group members = MPI_GROUP_NULL;
    MPI_Comm_group(world_, &world);
    MPI_Group_incl(world, static_cast<int>(group.size()), group.ranks.data(), &members);
    MPI_Comm handle = MPI_COMM_NULL;
    MPI_Comm_create_group(world_, members, 1, &handle);
    MPI_Group_free(&members);
    MPI_Group_free(&world);
    return handles_[group.ranks] = handle;
  }

  /// Sends this rank's call to every member and waits for theirs; all must be equal.
  base::Status meet(const Group& group, const Call& call) {
    const size_t n = group.size();
    const size_t me = group.index_of(rank());
    const CallHeader& mine = watch_.own();
    const double called_s = base::steady_s();
    std::vector<CallHeader> theirs(n);
    std::vector<MPI_Request> requests(2 * n, MPI_REQUEST_NULL);
    // Uses world ranks, not the group's MPI communicator: creating that is itself collective and
    // would hang without a message if a member never arrived.
    for (size_t i = 0; i < n; ++i) {
      if (i == me) continue;
      MPI_Irecv(&theirs[i], sizeof(CallHeader), MPI_BYTE, group.ranks[i], kHeaderTag, world_,
                &requests[i]);
      MPI_Isend(&mine, sizeof(CallHeader), MPI_BYTE, group.ranks[i], kHeaderTag, world_,
                &requests[n + i]);
    }
    const auto show_missing = [&] {
      for (size_t i = 0; i < n; ++i) {
        if (i != me) watch_.awaits(group.ranks[i], requests[i] != MPI_REQUEST_NULL);
      }
    };
    if (!wait_all(requests.data(), static_cast<int>(2 * n), show_missing)) {
      failed_ = true;
      return base::failed(fmt::format("rank {} waited {} s in {}{}", rank(), options().timeout_s,
                                      call.text(), watch_.missing()));
    }
    watch_.met();
    peers_arrived(called_s);
    for (size_t i = 0; i < n; ++i) {
      if (i == me) continue;
      watch_.heard(group.ranks[i], theirs[i]);
      if (std::memcmp(&theirs[i], &mine, sizeof(CallHeader)) == 0) continue;
      failed_ = true;
      return base::failed(fmt::format("ranks diverged: rank {} is in {}, rank {} is in {}", rank(),
                                      call.text(), group.ranks[i], unpack(theirs[i]).text()),
                          "every rank must run the same program with the same options");
    }
    return {};
  }

  base::Status wait(MPI_Request* requests, int count, const Call& call) {
    if (wait_all(requests, count, [] {})) return {};
    failed_ = true;
    return base::failed(fmt::format("rank {} waited {} s in {} after all its peers had arrived",
                                    rank(), options().timeout_s, call.text()),
                        "a peer exited or hung, or the network stalled, during the operation");
  }

  /// Waits for all requests. During long waits it tests each request and then calls `slow`, about
  /// once per second.
  template <typename Slow>
  bool wait_all(MPI_Request* requests, int count, const Slow& slow) {
    int done = 0;
    MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
    double last_s = base::steady_s(), waited_s = 0, shown_s = 0;
    for (int64_t spins = 0; done == 0; ++spins) {
      if (spins % 64 == 63) {
        give_way(spins);
        const double now_s = base::steady_s();
        // A longer interval means that the process was stopped, and its peers with it.
        waited_s += std::min(now_s - std::exchange(last_s, now_s), 1.0);
        const bool too_long = waited_s > options().timeout_s || stop_;
        if (too_long || waited_s - shown_s >= 1) {
          shown_s = waited_s;
          const bool all = test_each(requests, count);
          slow();
          if (too_long) return all;
        }
      }
      MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
    }
    if (shown_s > 0) slow();
    return true;
  }

  /// A companion waits beside the computing of its rank, which needs the core: it sleeps, the
  /// longer the longer it has waited.
  void give_way(int64_t spins) const {
    if (!is_companion()) {
      sched_yield();
      return;
    }
    constexpr int64_t kLeast_us = 20, kMost_us = 200;
    const int64_t pause_us = std::min(kLeast_us * (1 + spins / 64), kMost_us);
    std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
  }

  /// Completes the requests that are done; Testall changes none while one is pending.
  static bool test_each(MPI_Request* requests, int count) {
    bool all = true;
    for (int i = 0; i < count; ++i) {
      int one = 0;
      MPI_Test(&requests[i], &one, MPI_STATUS_IGNORE);
      all = all && one != 0;
    }
    return all;
  }

  bool is_companion() const { return world_ != MPI_COMM_WORLD; }

  MPI_Comm world_;
  std::map<std::vector<int>, MPI_Comm> handles_;
  CallWatch watch_;
  bool failed_ = false;
  std::atomic<bool> stop_ = false;  ///< of a companion: by the rank's own thread
};

}  // namespace

std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string out(text.data(), static_cast<size_t>(length));
  return out.substr(0, out.find_first_of(",\n"));
}

base::Result<std::unique_ptr<Communicator>> start_mpi(Options options) {
  int provided = 0;
  const int threads = options.companions ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
  if (MPI_Init_thread(nullptr, nullptr, threads, &provided) != MPI_SUCCESS) {
    return base::failed("MPI cannot be initialised");
  }
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  auto end = std::make_unique<MpiEnd>(rank, size, options, MPI_COMM_WORLD);
  if (auto fine = check_srun(size); !fine) return base::failure(fine.error());
  return end;
}

}  // namespace goban::train::comm

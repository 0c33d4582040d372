#include "comm/mpi_world.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <mpi.h>
#include <sched.h>

#include "base/number.hpp"
#include "comm/reduce.hpp"

namespace goban::comm {
namespace {

constexpr int kHeaderTag = 7;
constexpr int kDataTag = 8;
constexpr size_t kWhatBytes = 88;
// Up to here the library's blocking call is used, which is several times faster: all peers have
// come, so what is left to go wrong is that one dies, and then the launcher ends the others.
constexpr size_t kBlockingBytes = 16 << 20;

/// A call as it crosses the wire before its data.
struct Header {
  uint8_t operation, element, reduction, unused;
  uint32_t what_size;
  int64_t bytes;
  uint64_t sequence;
  char what[kWhatBytes];
};

Header pack(const Call& call) {
  Header header{};
  header.operation = static_cast<uint8_t>(call.operation);
  header.element = static_cast<uint8_t>(call.element);
  header.reduction = static_cast<uint8_t>(call.reduction);
  // The end of a long name tells operations apart better than its start.
  const std::string_view all = call.what;
  const std::string_view what = all.size() > kWhatBytes ? all.substr(all.size() - kWhatBytes) : all;
  header.what_size = static_cast<uint32_t>(what.size());
  std::memcpy(header.what, what.data(), what.size());
  header.bytes = call.bytes;
  header.sequence = call.sequence;
  return header;
}

Call unpack(const Header& header) {
  Call call;
  call.operation = static_cast<Operation>(std::min<uint8_t>(header.operation, kOperations - 1));
  call.element = static_cast<Element>(header.element);
  call.reduction = static_cast<Reduction>(header.reduction);
  call.what.assign(header.what, std::min<size_t>(header.what_size, kWhatBytes));
  call.bytes = header.bytes;
  call.sequence = header.sequence;
  return call;
}

MPI_Datatype mpi_type(Element element) {
  switch (element) {
    case Element::F32:
      return MPI_FLOAT;
    case Element::F64:
      return MPI_DOUBLE;
    case Element::I64:
      return MPI_INT64_T;
    case Element::BF16:
    case Element::U8:
      return MPI_UINT8_T;
  }
  return MPI_BYTE;
}

MPI_Op mpi_op(Reduction reduction) {
  switch (reduction) {
    case Reduction::Sum:
      return MPI_SUM;
    case Reduction::Max:
      return MPI_MAX;
    case Reduction::Min:
      return MPI_MIN;
  }
  return MPI_SUM;
}

class MpiEnd final : public Communicator {
 public:
  MpiEnd(int rank, int size, Options options) : Communicator(rank, size, options) {}
  ~MpiEnd() override {
    if (failed_) {
      // Peers may never come to MPI_Finalize: end them too.
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (auto& [ranks, handle] : handles_) MPI_Comm_free(&handle);
    MPI_Finalize();
  }

  int local_rank() const override { return launcher_local_rank(); }
  void abandon(const std::string& reason) override {
    std::fprintf(stderr, "goban: rank %d ends the run: %s\n", rank(), reason.c_str());
    std::fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

 protected:
  base::Status run_all_reduce(const Group& group, const Call& call,
                              std::span<std::byte> data) override {
    if (auto met = meet(group, call); !met) return met;
    if (!options().fixed_order && call.element != Element::BF16) {
      if (data.size() <= kBlockingBytes) {
        MPI_Allreduce(MPI_IN_PLACE, data.data(),
                      static_cast<int>(data.size() / element_bytes(call.element)),
                      mpi_type(call.element), mpi_op(call.reduction), handle_of(group));
        return {};
      }
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Iallreduce(MPI_IN_PLACE, data.data(),
                     static_cast<int>(data.size() / element_bytes(call.element)),
                     mpi_type(call.element), mpi_op(call.reduction), handle_of(group), &request);
      return wait(&request, 1, call);
    }
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

  base::Status run_all_gather(const Group& group, const Call& call, std::span<const std::byte> mine,
                              std::span<std::byte> all) override {
    if (auto met = meet(group, call); !met) return met;
    MPI_Request request = MPI_REQUEST_NULL;
    const int count = static_cast<int>(mine.size());
    MPI_Iallgather(mine.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE, handle_of(group),
                   &request);
    return wait(&request, 1, call);
  }

  base::Status run_all_to_all(const Group& group, const Call& call, std::span<const std::byte> send,
                              std::span<std::byte> receive) override {
    if (auto met = meet(group, call); !met) return met;
    MPI_Request request = MPI_REQUEST_NULL;
    const int count = static_cast<int>(send.size() / group.size());
    MPI_Ialltoall(send.data(), count, MPI_BYTE, receive.data(), count, MPI_BYTE, handle_of(group),
                  &request);
    return wait(&request, 1, call);
  }

  base::Status run_reduce_scatter(const Group& group, const Call& call,
                                  std::span<const std::byte> data,
                                  std::span<std::byte> mine) override {
    if (auto met = meet(group, call); !met) return met;
    std::vector<int> lengths(group.size(), static_cast<int>(mine.size())), starts(group.size());
    for (size_t i = 0; i < group.size(); ++i) starts[i] = static_cast<int>(i * mine.size());
    std::vector<std::byte> reduced;
    auto done = scatter_reduced(group, call, data, lengths, starts, reduced);
    if (done) std::copy(reduced.begin(), reduced.end(), mine.begin());
    return done;
  }

  base::Status run_broadcast(const Group& group, const Call& call, std::span<std::byte> data,
                             size_t root_index) override {
    if (auto met = meet(group, call); !met) return met;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(data.data(), static_cast<int>(data.size()), MPI_BYTE, static_cast<int>(root_index),
               handle_of(group), &request);
    return wait(&request, 1, call);
  }

  base::Status run_exchange(const Group& group, const Call& call, std::optional<size_t> to,
                            std::span<const std::byte> send, std::optional<size_t> from,
                            std::span<std::byte> receive) override {
    if (auto met = meet(group, call); !met) return met;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (from) {
      MPI_Irecv(receive.data(), static_cast<int>(receive.size()), MPI_BYTE, static_cast<int>(*from),
                kDataTag, handle_of(group), &requests[0]);
    }
    if (to) {
      MPI_Isend(send.data(), static_cast<int>(send.size()), MPI_BYTE, static_cast<int>(*to),
                kDataTag, handle_of(group), &requests[1]);
    }
    return wait(requests, 2, call);
  }

  base::Status run_barrier(const Group& group, const Call& call) override {
    return meet(group, call);
  }

 private:
  /// Every member's part of `data` goes to that member, which reduces in group order.
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
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, static_cast<int>(group.size()), group.ranks.data(), &members);
    MPI_Comm handle = MPI_COMM_NULL;
    MPI_Comm_create_group(MPI_COMM_WORLD, members, 1, &handle);
    MPI_Group_free(&members);
    MPI_Group_free(&world);
    return handles_[group.ranks] = handle;
  }

  /// Sends the own call to every member and waits for theirs; they must be equal.
  base::Status meet(const Group& group, const Call& call) {
    const size_t n = group.size();
    const size_t me = group.index_of(rank());
    const Header mine = pack(call);
    std::vector<Header> theirs(n);
    std::vector<MPI_Request> requests(2 * n, MPI_REQUEST_NULL);
    // World ranks, not the group's own communicator: creating that is itself collective and
    // would hang silently if a member never came.
    for (size_t i = 0; i < n; ++i) {
      if (i == me) continue;
      MPI_Irecv(&theirs[i], sizeof(Header), MPI_BYTE, group.ranks[i], kHeaderTag, MPI_COMM_WORLD,
                &requests[i]);
      MPI_Isend(&mine, sizeof(Header), MPI_BYTE, group.ranks[i], kHeaderTag, MPI_COMM_WORLD,
                &requests[n + i]);
    }
    if (!wait_all(requests.data(), static_cast<int>(2 * n))) {
      failed_ = true;
      std::string text =
          fmt::format("rank {} waited {} s in {}", rank(), options().timeout_s, call.text());
      for (size_t i = 0; i < n; ++i) {
        if (requests[i] == MPI_REQUEST_NULL) continue;
        const auto seen = last_seen_.find(group.ranks[i]);
        text += fmt::format("; rank {} did not come (last seen in {})", group.ranks[i],
                            seen == last_seen_.end() ? "nothing yet" : seen->second.text());
      }
      return base::failed(text);
    }
    for (size_t i = 0; i < n; ++i) {
      if (i == me) continue;
      const Call other = unpack(theirs[i]);
      last_seen_[group.ranks[i]] = other;
      if (std::memcmp(&theirs[i], &mine, sizeof(Header)) == 0) continue;
      failed_ = true;
      return base::failed(fmt::format("ranks diverged: rank {} is in {}, rank {} is in {}", rank(),
                                      call.text(), group.ranks[i], other.text()),
                          "every rank must run the same program with the same options");
    }
    return {};
  }

  base::Status wait(MPI_Request* requests, int count, const Call& call) {
    if (wait_all(requests, count)) return {};
    failed_ = true;
    return base::failed(fmt::format("rank {} waited {} s in {} after all its peers had come",
                                    rank(), options().timeout_s, call.text()),
                        "a peer died or the network stalled during the operation");
  }

  bool wait_all(MPI_Request* requests, int count) {
    int done = 0;
    MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
    const auto start = std::chrono::steady_clock::now();
    for (int spins = 0; done == 0; ++spins) {
      if (spins % 64 == 63) {
        sched_yield();
        const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
        if (waited.count() > options().timeout_s) {
          // Testall leaves all requests alone; test each to learn who is missing.
          bool all = true;
          for (int i = 0; i < count; ++i) {
            int one = 0;
            MPI_Test(&requests[i], &one, MPI_STATUS_IGNORE);
            all = all && one != 0;
          }
          return all;
        }
      }
      MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
    }
    return true;
  }

  std::map<std::vector<int>, MPI_Comm> handles_;
  std::map<int, Call> last_seen_;
  bool failed_ = false;
};

int environment_number(const char* name, int fallback) {
  const char* text = std::getenv(name);
  if (text == nullptr) return fallback;
  const auto number = base::parse_int(text);
  return number ? static_cast<int>(*number) : fallback;
}

}  // namespace

bool launched_by_mpi() {
  constexpr std::array kSetByLaunchers = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
  return std::ranges::any_of(kSetByLaunchers,
                             [](const char* name) { return std::getenv(name) != nullptr; });
}

std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string out(text.data(), static_cast<size_t>(length));
  return out.substr(0, out.find_first_of(",\n"));
}

int launcher_local_rank() {
  return environment_number("OMPI_COMM_WORLD_LOCAL_RANK", environment_number("SLURM_LOCALID", 0));
}

base::Result<std::unique_ptr<Communicator>> start_mpi(Options options) {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    return base::failed("MPI did not start");
  }
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return std::make_unique<MpiEnd>(rank, size, options);
}

}  // namespace goban::comm

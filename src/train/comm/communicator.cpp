#include "train/comm/communicator.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <numeric>
#include <thread>

#include "base/check.hpp"
#include "base/clock.hpp"

namespace goban::train::comm {

size_t element_bytes(Element element) {
  switch (element) {
    case Element::F32:
      return 4;
    case Element::F64:
      return 8;
    case Element::BF16:
      return 2;
    case Element::I64:
      return 8;
    case Element::U8:
      return 1;
  }
  return 1;
}

std::string_view operation_name(Operation operation) {
  static constexpr std::array<std::string_view, kOperations> kNames = {
      "all-reduce", "all-gather", "all-to-all", "reduce-scatter",
      "broadcast",  "exchange",   "barrier"};
  return kNames[static_cast<size_t>(operation)];
}

size_t Group::index_of(int rank) const {
  const auto found = std::find(ranks.begin(), ranks.end(), rank);
  GOBAN_CHECK(found != ranks.end(), fmt::format("rank {} is not in the group", rank));
  return static_cast<size_t>(found - ranks.begin());
}

Group whole_world(int size) {
  Group group;
  group.ranks.resize(static_cast<size_t>(size));
  std::iota(group.ranks.begin(), group.ranks.end(), 0);
  return group;
}

int64_t Traffic::total_bytes() const {
  return std::accumulate(sent_bytes.begin(), sent_bytes.end(), int64_t{0});
}

int64_t wire_bytes(Operation operation, size_t members, int64_t bytes) {
  const auto n = static_cast<int64_t>(members);
  if (n <= 1) return 0;
  switch (operation) {
    case Operation::AllReduce:
      return 2 * (n - 1) * bytes / n;
    case Operation::AllGather:
      return (n - 1) * bytes;
    case Operation::AllToAll:
    case Operation::ReduceScatter:
      return (n - 1) * bytes / n;
    case Operation::Broadcast:
    case Operation::Exchange:
      return bytes;
    case Operation::Barrier:
      return 0;
  }
  return 0;
}

std::string Call::text() const {
  return fmt::format("{} '{}' ({} bytes, call {} of its group)", operation_name(operation), what,
                     bytes, sequence);
}

Communicator::Communicator(int rank, int size, Options options)
    : rank_(rank), size_(size), options_(options) {}

Call Communicator::begin(const Group& group, Operation operation, int64_t bytes,
                         std::string_view what, int64_t sent_bytes) {
  auto found = std::find_if(sequences_.begin(), sequences_.end(),
                            [&](const auto& entry) { return entry.first == group.ranks; });
  if (found == sequences_.end()) {
    sequences_.emplace_back(group.ranks, 0);
    found = std::prev(sequences_.end());
  }
  const auto slot = static_cast<size_t>(operation);
  ++traffic_.calls[slot];
  traffic_.sent_bytes[slot] += sent_bytes;
  Call call;
  call.operation = operation;
  call.bytes = bytes;
  call.sequence = found->second++;
  call.what = what;
  return call;
}

template <typename Run>
base::Status Communicator::timed(const Run& run) {
  const double begin_s = base::steady_s();
  base::Status done = run();
  traffic_.spent_s += base::steady_s() - begin_s;
  return done;
}

void Communicator::peers_arrived(double called_s) {
  traffic_.late_s += base::steady_s() - called_s;
}

base::Result<std::unique_ptr<Communicator>> Communicator::companion() {
  return base::failed("this transport cannot communicate while the rank computes",
                      "use --overlap off, or --collectives host");
}

namespace {
int64_t length(std::span<const std::byte> bytes) { return static_cast<int64_t>(bytes.size()); }
}  // namespace

base::Status Communicator::all_reduce(const Group& group, std::span<std::byte> data,
                                      Element element, Reduction reduction, std::string_view what) {
  GOBAN_CHECK(data.size() % element_bytes(element) == 0);
  const int64_t bytes = length(data);
  Call call = begin(group, Operation::AllReduce, bytes, what,
                    wire_bytes(Operation::AllReduce, group.size(), bytes));
  call.element = element;
  call.reduction = reduction;
  if (group.size() == 1) return {};
  return timed([&] {
    const base::Status done = run_all_reduce(group, call, data);
    if (options_.delay_s_per_byte > 0) {
      const double pause_s = options_.delay_s_per_byte * static_cast<double>(bytes);
      std::this_thread::sleep_for(std::chrono::duration<double>(pause_s));
    }
    return done;
  });
}

base::Status Communicator::all_gather(const Group& group, std::span<const std::byte> mine,
                                      std::span<std::byte> all, std::string_view what) {
  GOBAN_CHECK(all.size() == mine.size() * group.size());
  const int64_t bytes = length(mine);
  const Call call = begin(group, Operation::AllGather, bytes, what,
                          wire_bytes(Operation::AllGather, group.size(), bytes));
  if (group.size() == 1) {
    std::copy(mine.begin(), mine.end(), all.begin());
    return {};
  }
  return timed([&] { return run_all_gather(group, call, mine, all); });
}

base::Status Communicator::all_to_all(const Group& group, std::span<const std::byte> send,
                                      std::span<std::byte> receive, std::string_view what) {
  GOBAN_CHECK(send.size() == receive.size() && send.size() % group.size() == 0);
  const int64_t bytes = length(send);
  const Call call = begin(group, Operation::AllToAll, bytes, what,
                          wire_bytes(Operation::AllToAll, group.size(), bytes));
  if (group.size() == 1) {
    std::copy(send.begin(), send.end(), receive.begin());
    return {};
  }
  return timed([&] { return run_all_to_all(group, call, send, receive); });
}

base::Status Communicator::reduce_scatter(const Group& group, std::span<const std::byte> data,
                                          std::span<std::byte> mine, Element element,
                                          Reduction reduction, std::string_view what) {
  GOBAN_CHECK(data.size() == mine.size() * group.size() &&
              mine.size() % element_bytes(element) == 0);
  const int64_t bytes = length(data);
  Call call = begin(group, Operation::ReduceScatter, bytes, what,
                    wire_bytes(Operation::ReduceScatter, group.size(), bytes));
  call.element = element;
  call.reduction = reduction;
  if (group.size() == 1) {
    std::copy(data.begin(), data.end(), mine.begin());
    return {};
  }
  return timed([&] { return run_reduce_scatter(group, call, data, mine); });
}

base::Status Communicator::broadcast(const Group& group, std::span<std::byte> data,
                                     size_t root_index, std::string_view what) {
  GOBAN_CHECK(root_index < group.size());
  const int64_t bytes = length(data);
  const bool root = group.index_of(rank_) == root_index;
  const Call call = begin(group, Operation::Broadcast, bytes, what,
                          root ? wire_bytes(Operation::Broadcast, group.size(), bytes) : 0);
  if (group.size() == 1) return {};
  return timed([&] { return run_broadcast(group, call, data, root_index); });
}

base::Status Communicator::exchange(const Group& group, std::optional<size_t> to,
                                    std::span<const std::byte> send, std::optional<size_t> from,
                                    std::span<std::byte> receive, std::string_view what) {
  GOBAN_CHECK(send.size() == receive.size());
  const size_t me = group.index_of(rank_);
  GOBAN_CHECK((!to || *to < group.size()) && (!from || *from < group.size()));
  const int64_t bytes = length(send);
  const Call call = begin(group, Operation::Exchange, bytes, what, to && *to != me ? bytes : 0);
  if (group.size() == 1) {
    if (from) std::copy(send.begin(), send.end(), receive.begin());
    return {};
  }
  return timed([&] { return run_exchange(group, call, to, send, from, receive); });
}

base::Status Communicator::barrier(const Group& group, std::string_view what) {
  const Call call = begin(group, Operation::Barrier, 0, what, 0);
  if (group.size() == 1) return {};
  return timed([&] { return run_barrier(group, call); });
}

base::Result<int64_t> reduced(Communicator& end, int64_t mine, Reduction reduction,
                              std::string_view what) {
  std::array<int64_t, 1> number = {mine};
  const auto done =
      end.all_reduce(whole_world(end.size()), std::as_writable_bytes(std::span(number)),
                     Element::I64, reduction, what);
  if (!done) return base::failure(done.error());
  return number[0];
}

}  // namespace goban::train::comm

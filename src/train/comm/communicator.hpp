// Collectives between the ranks of a training run. One interface for threads of one process
// (thread_world.hpp), MPI processes (mpi_world.hpp) and NCCL (nccl_world.hpp). Free of LibTorch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace goban::train::comm {

/// Type of one element of a message. BF16 sums are formed in fp32 and rounded once.
enum class Element : uint8_t { F32, F64, BF16, I64, U8 };
enum class Reduction : uint8_t { Sum, Max, Min };
enum class Operation : uint8_t {
  AllReduce,
  AllGather,
  AllToAll,
  ReduceScatter,
  Broadcast,
  Exchange,
  Barrier
};
inline constexpr size_t kOperations = 7;

[[nodiscard]] size_t element_bytes(Element element);
[[nodiscard]] std::string_view operation_name(Operation operation);

/// Ranks that take part in a call, ascending; every member passes the same list.
struct Group {
  std::vector<int> ranks;
  [[nodiscard]] size_t size() const { return ranks.size(); }
  /// Position of `rank` in the group; it must be a member.
  [[nodiscard]] size_t index_of(int rank) const;
};
/// All ranks of a world of `size`.
[[nodiscard]] Group whole_world(int size);

struct Options {
  double timeout_s = 300;    ///< maximum wait for a peer; then the run ends and names it
  bool fixed_order = false;  ///< sum in rank order: identical bits on any transport
  size_t largest_message = size_t{1} << 30;  ///< bytes; larger MPI messages are split
  /// Slows all-reduces down on purpose, by sleeping: to measure what overlap hides.
  double delay_s_per_byte = 0;
  bool companions = false;  ///< companion() will be called: MPI must admit several threads
};

/// Number of calls and bytes sent by this rank, per operation.
struct Traffic {
  std::array<int64_t, kOperations> calls{};
  std::array<int64_t, kOperations> sent_bytes{};
  double spent_s = 0;  ///< in calls, waiting for peers included
  double late_s = 0;   ///< of it, until the last peer had arrived
  [[nodiscard]] int64_t total_bytes() const;
};

/// Bytes that one of `members` ranks sends for an operation on `bytes`: 2(n-1)/n times for an
/// all-reduce, n-1 times its own part for an all-gather, (n-1)/n times for all-to-all and
/// reduce-scatter. Rounded down.
[[nodiscard]] int64_t wire_bytes(Operation operation, size_t members, int64_t bytes);

/// The collective a rank is about to run. Peers compare it before data move.
struct Call {
  Operation operation = Operation::Barrier;
  Element element = Element::U8;
  Reduction reduction = Reduction::Sum;
  int64_t bytes = 0;
  uint64_t sequence = 0;  ///< number of earlier calls of this group
  std::string what;       ///< name in the graph, such as "dense0/einsum"
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Call&, const Call&) = default;
};

/// One rank's interface to the others. Not thread-safe: one thread drives one rank. Every call is
/// collective over its group. Errors of all calls: Failed. The message names the rank that did not
/// arrive, or that called another operation, and the operation of this rank. The world is unusable
/// afterwards.
class Communicator {
 public:
  Communicator(int rank, int size, Options options);
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// Index of this rank among the ranks of its machine.
  [[nodiscard]] virtual int local_rank() const { return rank_; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const Traffic& traffic() const { return traffic_; }

  /// Replaces `data` by the reduction over the group, in place. Identical bits on every member.
  [[nodiscard]] base::Status all_reduce(const Group& group, std::span<std::byte> data,
                                        Element element, Reduction reduction,
                                        std::string_view what);
  /// Concatenates every member's `mine` into `all`, in group order. |all| = n * |mine|.
  [[nodiscard]] base::Status all_gather(const Group& group, std::span<const std::byte> mine,
                                        std::span<std::byte> all, std::string_view what);
  /// Sends the i-th of n equal blocks of `send` to member i; `receive` is in group order.
  [[nodiscard]] base::Status all_to_all(const Group& group, std::span<const std::byte> send,
                                        std::span<std::byte> receive, std::string_view what);
  /// Reduces `data` and stores this member's one of n equal blocks in `mine`.
  [[nodiscard]] base::Status reduce_scatter(const Group& group, std::span<const std::byte> data,
                                            std::span<std::byte> mine, Element element,
                                            Reduction reduction, std::string_view what);
  /// Copies `data` of the member at `root_index` to all members.
  [[nodiscard]] base::Status broadcast(const Group& group, std::span<std::byte> data,
                                       size_t root_index, std::string_view what);
  /// Sends to one member and receives from one (either may be absent), as a shift does.
  /// Every member calls it; sizes are equal.
  [[nodiscard]] base::Status exchange(const Group& group, std::optional<size_t> to,
                                      std::span<const std::byte> send, std::optional<size_t> from,
                                      std::span<std::byte> receive, std::string_view what);
  [[nodiscard]] base::Status barrier(const Group& group, std::string_view what);

  /// A second communicator of the same ranks, for use by another thread at the same time.
  /// Collective. It must not outlive this one. Errors: Failed, where the transport has none, or MPI
  /// does not admit several threads.
  [[nodiscard]] virtual base::Result<std::unique_ptr<Communicator>> companion();

  /// True if buffers may be memory of this rank's GPU (DeviceData).
  [[nodiscard]] virtual bool takes_device_data() const { return false; }

  /// During its lifetime, all buffers passed to `end` are memory of its GPU. `end` must take device
  /// data. The caller must wait for pending writes to them first.
  class DeviceData {
   public:
    explicit DeviceData(Communicator& end) : end_(end) { end_.device_data_ = true; }
    ~DeviceData() { end_.device_data_ = false; }
    DeviceData(const DeviceData&) = delete;
    DeviceData& operator=(const DeviceData&) = delete;

   private:
    Communicator& end_;
  };

  /// Notifies all peers that this rank gives up, so that none waits for it.
  virtual void abandon(const std::string& reason) = 0;

 protected:
  [[nodiscard]] bool device_data() const { return device_data_; }
  /// All peers have arrived in the call that began at `called_s`.
  void peers_arrived(double called_s);
  /// Synchronises the group, compares the calls, then moves the data.
  virtual base::Status run_all_reduce(const Group&, const Call&, std::span<std::byte> data) = 0;
  virtual base::Status run_all_gather(const Group&, const Call&, std::span<const std::byte> mine,
                                      std::span<std::byte> all) = 0;
  virtual base::Status run_all_to_all(const Group&, const Call&, std::span<const std::byte> send,
                                      std::span<std::byte> receive) = 0;
  virtual base::Status run_reduce_scatter(const Group&, const Call&,
                                          std::span<const std::byte> data,
                                          std::span<std::byte> mine) = 0;
  virtual base::Status run_broadcast(const Group&, const Call&, std::span<std::byte> data,
                                     size_t root_index) = 0;
  virtual base::Status run_exchange(const Group&, const Call&, std::optional<size_t> to,
                                    std::span<const std::byte> send, std::optional<size_t> from,
                                    std::span<std::byte> receive) = 0;
  virtual base::Status run_barrier(const Group&, const Call&) = 0;

 private:
  /// Runs a call and adds the time it took.
  template <typename Run>
  base::Status timed(const Run& run);
  Call begin(const Group& group, Operation operation, int64_t bytes, std::string_view what,
             int64_t sent_bytes);

  int rank_;
  int size_;
  Options options_;
  bool device_data_ = false;
  Traffic traffic_;
  std::vector<std::pair<std::vector<int>, uint64_t>>
      sequences_;  // calls made, per group; there are few groups
};

/// The reduction of one number of each rank of the world, the same on all of them. Collective.
/// Errors: those of Communicator::all_reduce.
[[nodiscard]] base::Result<int64_t> reduced(Communicator& end, int64_t mine, Reduction reduction,
                                            std::string_view what);

}  // namespace goban::train::comm

#include "train/comm/nccl_world.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <sched.h>
#include <vector>

#include "base/clock.hpp"

namespace goban::train::comm {
namespace {

constexpr int kCopyAnyWay = 4;  // cudaMemcpyDefault

NcclType type_of(Element element) {
  switch (element) {
    case Element::F32:
      return NcclType::F32;
    case Element::F64:
      return NcclType::F64;
    case Element::BF16:
      return NcclType::BF16;
    case Element::I64:
      return NcclType::I64;
    case Element::U8:
      return NcclType::U8;
  }
  return NcclType::U8;
}

NcclOp op_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::Sum:
      return NcclOp::Sum;
    case Reduction::Max:
      return NcclOp::Max;
    case Reduction::Min:
      return NcclOp::Min;
  }
  return NcclOp::Sum;
}

/// GPU memory that grows to the largest message.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(const CudaFunctions& cuda) : cuda_(cuda) {}
  ~DeviceBuffer() {
    if (data_ != nullptr) cuda_.free(data_);
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  /// At least `bytes`; null if the GPU is out of memory.
  std::byte* of(size_t bytes) {
    if (bytes <= size_) return static_cast<std::byte*>(data_);
    if (data_ != nullptr) cuda_.free(data_);
    data_ = nullptr;
    size_ = 0;
    if (cuda_.allocate(&data_, bytes) != 0) return nullptr;
    size_ = bytes;
    return static_cast<std::byte*>(data_);
  }

 private:
  const CudaFunctions& cuda_;
  void* data_ = nullptr;
  size_t size_ = 0;
};

class NcclEnd final : public Communicator {
 public:
  NcclEnd(Communicator& host, int gpu, std::shared_ptr<const NcclLibrary> library)
      : Communicator(host.rank(), host.size(), host.options()),
        host_(host),
        gpu_(gpu),
        library_(std::move(library)),
        in_(library_->cuda),
        out_(library_->cuda) {}
  ~NcclEnd() override {
    for (auto& [ranks, comm] : comms_) {
      failed_ ? library_->nccl.comm_abort(comm) : library_->nccl.comm_destroy(comm);
    }
    if (stream_ != nullptr) library_->cuda.stream_destroy(stream_);
  }

  int local_rank() const override { return host_.local_rank(); }
  bool takes_device_data() const override { return true; }

  base::Result<std::unique_ptr<Communicator>> companion() override {
    auto host = host_.companion();
    if (!host) return base::failure(host.error());
    auto out = std::make_unique<NcclEnd>(**host, gpu_, library_);
    out->own_host_ = std::move(*host);
    if (auto s = out->take_device(); !s) return base::failure(s.error());
    return out;
  }

  base::Status take_device() {
    int count = 0;
    if (auto s = cuda("counting GPUs", library_->cuda.get_device_count(&count)); !s) return s;
    if (gpu_ >= count) {
      return base::failed(fmt::format("rank {} requires GPU {} of its machine, but sees {} GPUs",
                                      rank(), gpu_, count),
                          "NCCL requires one GPU per rank: use fewer ranks, unset "
                          "CUDA_VISIBLE_DEVICES, or use --collectives host");
    }
    if (auto s = select_device(); !s) return s;
    return cuda("creating a stream", library_->cuda.stream_create(&stream_));
  }

  void abandon(const std::string& reason) override {
    failed_ = true;
    host_.abandon(reason);
  }

 protected:
  base::Status run_all_reduce(const Group& group, const Call& call,
                              std::span<std::byte> data) override {
    if (options().fixed_order || call.element == Element::BF16) {
      return on_host(data, data, [&](auto in, auto) {
        return host_.all_reduce(group, in, call.element, call.reduction, call.what);
      });
    }
    return moved(group, call, data, data, [&](NcclComm comm, std::byte* in, std::byte* out) {
      return library_->nccl.all_reduce(in, out, data.size() / element_bytes(call.element),
                                       type_of(call.element), op_of(call.reduction), comm, stream_);
    });
  }

  base::Status run_all_gather(const Group& group, const Call& call, std::span<const std::byte> mine,
                              std::span<std::byte> all) override {
    return moved(group, call, mine, all, [&](NcclComm comm, std::byte* in, std::byte* out) {
      return library_->nccl.all_gather(in, out, mine.size(), NcclType::U8, comm, stream_);
    });
  }

  base::Status run_all_to_all(const Group& group, const Call& call, std::span<const std::byte> send,
                              std::span<std::byte> receive) override {
    return moved(group, call, send, receive, [&](NcclComm comm, std::byte* in, std::byte* out) {
      const NcclFunctions& nccl = library_->nccl;
      const size_t block = send.size() / group.size();
      int code = nccl.group_start();
      for (size_t i = 0; i < group.size() && code == 0; ++i) {
        const int peer = static_cast<int>(i);
        code = nccl.send(in + i * block, block, NcclType::U8, peer, comm, stream_);
        if (code == 0) {
          code = nccl.receive(out + i * block, block, NcclType::U8, peer, comm, stream_);
        }
      }
      const int ended = nccl.group_end();
      return code != 0 ? code : ended;
    });
  }

  base::Status run_reduce_scatter(const Group& group, const Call& call,
                                  std::span<const std::byte> data,
                                  std::span<std::byte> mine) override {
    if (options().fixed_order || call.element == Element::BF16) {
      return on_host(data, mine, [&](auto in, auto out) {
        return host_.reduce_scatter(group, in, out, call.element, call.reduction, call.what);
      });
    }
    return moved(group, call, data, mine, [&](NcclComm comm, std::byte* in, std::byte* out) {
      return library_->nccl.reduce_scatter(in, out, mine.size() / element_bytes(call.element),
                                           type_of(call.element), op_of(call.reduction), comm,
                                           stream_);
    });
  }

  base::Status run_broadcast(const Group& group, const Call& call, std::span<std::byte> data,
                             size_t root_index) override {
    return moved(group, call, data, data, [&](NcclComm comm, std::byte* in, std::byte* out) {
      return library_->nccl.broadcast(in, out, data.size(), NcclType::U8,
                                      static_cast<int>(root_index), comm, stream_);
    });
  }

  base::Status run_exchange(const Group& group, const Call& call, std::optional<size_t> to,
                            std::span<const std::byte> send, std::optional<size_t> from,
                            std::span<std::byte> receive) override {
    // Without a sender the buffer keeps its contents.
    const std::span<std::byte> got = from ? receive : std::span<std::byte>{};
    return moved(group, call, send, got, [&](NcclComm comm, std::byte* in, std::byte* out) {
      const NcclFunctions& nccl = library_->nccl;
      int code = nccl.group_start();
      if (to && code == 0) {
        code = nccl.send(in, send.size(), NcclType::U8, static_cast<int>(*to), comm, stream_);
      }
      if (from && code == 0) {
        code = nccl.receive(out, got.size(), NcclType::U8, static_cast<int>(*from), comm, stream_);
      }
      const int ended = nccl.group_end();
      return code != 0 ? code : ended;
    });
  }

  base::Status run_barrier(const Group& group, const Call& call) override {
    return host_.barrier(group, call.what);
  }

 private:
  base::Status cuda(const char* what, int code) {
    if (code == 0) return {};
    failed_ = true;
    return base::failed(fmt::format("CUDA: {}: {}", what, library_->cuda.get_error_string(code)));
  }
  base::Status nccl(const std::string& what, int code) {
    if (code == 0 || code == kNcclInProgress) return {};
    failed_ = true;
    return base::failed(
        fmt::format("rank {}: NCCL: {}: {}", rank(), what, library_->nccl.get_error_string(code)),
        "set NCCL_DEBUG=INFO for details");
  }

  /// The CUDA runtime remembers it by thread, and a companion is used by another than made it.
  base::Status select_device() {
    return cuda("selecting the GPU", library_->cuda.set_device(gpu_));
  }

  /// Synchronises the group, copies `send` to the GPU, runs `body`, and copies its result to
  /// `receive`.
  template <typename Body>
  base::Status moved(const Group& group, const Call& call, std::span<const std::byte> send,
                     std::span<std::byte> receive, const Body& body) {
    const double called_s = base::steady_s();
    if (auto s = host_.barrier(group, call.text()); !s) return s;
    peers_arrived(called_s);
    if (call.bytes == 0) return {};
    if (auto s = select_device(); !s) return s;
    auto comm = comm_of(group);
    if (!comm) return base::failure(comm.error());
    if (device_data()) {
      // The C functions take non-const pointers for buffers that are only read.
      auto* const own = const_cast<std::byte*>(send.data());
      if (auto s = nccl(call.text(), body(*comm, own, receive.data())); !s) return s;
      return wait(*comm, call);
    }
    std::byte* const in = in_.of(send.size());
    std::byte* const out = receive.empty() ? in : out_.of(receive.size());
    if (in == nullptr || out == nullptr) {
      failed_ = true;
      return base::failed(
          fmt::format("rank {}: the GPU is out of memory for {}", rank(), call.text()));
    }
    const CudaFunctions& functions = library_->cuda;
    if (auto s = cuda("copy to the GPU", functions.copy(in, send.data(), send.size(), kCopyAnyWay));
        !s) {
      return s;
    }
    if (auto s = nccl(call.text(), body(*comm, in, out)); !s) return s;
    if (auto s = wait(*comm, call); !s) return s;
    return receive.empty() ? base::Status{}
                           : cuda("copy from the GPU",
                                  functions.copy(receive.data(), out, receive.size(), kCopyAnyWay));
  }

  /// Runs `body` on host buffers that are copies of `send` and `receive`.
  template <typename Body>
  base::Status on_host(std::span<const std::byte> send, std::span<std::byte> receive,
                       const Body& body) {
    if (auto s = select_device(); !s) return s;
    std::vector<std::byte> in(send.size()), out(receive.size());
    const bool same = send.data() == receive.data();
    const CudaFunctions& functions = library_->cuda;
    if (device_data()) {
      const int code = functions.copy(in.data(), send.data(), in.size(), kCopyAnyWay);
      if (auto s = cuda("copy from the GPU", code); !s) return s;
    } else {
      std::copy(send.begin(), send.end(), in.begin());
    }
    if (auto s = body(std::span(in), std::span(out)); !s) return s;
    const std::vector<std::byte>& result = same ? in : out;
    if (device_data()) {
      return cuda("copy to the GPU",
                  functions.copy(receive.data(), result.data(), result.size(), kCopyAnyWay));
    }
    std::copy(result.begin(), result.end(), receive.begin());
    return {};
  }

  base::Result<NcclComm> comm_of(const Group& group) {
    if (const auto found = comms_.find(group.ranks); found != comms_.end()) return found->second;
    NcclUniqueId id{};
    if (group.index_of(rank()) == 0) {
      if (auto s = nccl("creating a unique id", library_->nccl.get_unique_id(&id)); !s) {
        return base::failure(s.error());
      }
    }
    auto told = host_.broadcast(group, std::as_writable_bytes(std::span(id.bytes)), 0, "NCCL id");
    if (!told) return base::failure(told.error());
    NcclComm comm = nullptr;
    const int mine = static_cast<int>(group.index_of(rank()));
    const int code = library_->nccl.comm_init_rank(&comm, static_cast<int>(group.size()), id, mine);
    if (auto s = nccl("creating a communicator", code); !s) return base::failure(s.error());
    return comms_[group.ranks] = comm;
  }

  base::Status wait(NcclComm comm, const Call& call) {
    const double start_s = base::steady_s();
    while (true) {
      const int code = library_->cuda.stream_query(stream_);
      if (code != kCudaNotReady) return cuda("collective", code);
      int broken = 0;
      library_->nccl.comm_get_async_error(comm, &broken);
      if (auto s = nccl(call.text(), broken); !s) return s;
      if (base::steady_s() - start_s > options().timeout_s) {
        failed_ = true;
        return base::failed(fmt::format("rank {} waited {} s in {} after all its peers had arrived",
                                        rank(), options().timeout_s, call.text()),
                            "a peer exited or hung, or the network stalled, during the operation");
      }
      sched_yield();
    }
  }

  std::unique_ptr<Communicator> own_host_;  ///< of a companion; ends last
  Communicator& host_;
  int gpu_;
  std::shared_ptr<const NcclLibrary> library_;
  DeviceBuffer in_, out_;
  std::map<std::vector<int>, NcclComm> comms_;
  CudaStream stream_ = nullptr;
  bool failed_ = false;
};

/// Creates this rank's communicator, whether or not the other ranks can create theirs.
base::Result<std::unique_ptr<NcclEnd>> own_end(Communicator& host, int gpu,
                                               const NcclPaths& paths) {
  auto library = NcclLibrary::load(paths);
  if (!library) return base::failure(library.error());
  auto end = std::make_unique<NcclEnd>(host, gpu, *library);
  if (auto s = end->take_device(); !s) return base::failure(s.error());
  return end;
}

}  // namespace

base::Result<std::unique_ptr<Communicator>> start_nccl(Communicator& host, int gpu,
                                                       const NcclPaths& paths) {
  auto end = own_end(host, gpu, paths);
  const auto broken = reduced(host, end ? 0 : 1, Reduction::Max, "start of NCCL");
  if (!end) return base::failure(end.error());
  if (!broken) return base::failure(broken.error());
  if (*broken != 0) return base::failed("NCCL cannot start on another rank; see its message");
  return std::unique_ptr<Communicator>(std::move(*end));
}

}  // namespace goban::train::comm

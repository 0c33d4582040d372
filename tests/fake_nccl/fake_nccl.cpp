// Stands in for NCCL and the CUDA runtime in tests: ranks are threads, a GPU's memory is memory
// that it handed out itself, or that of tests/standin_device. Calls with other memory, unknown
// types or peers fail as the real ones would. GOBAN_FAKE_GPUS says how many GPUs there are (default
// 8); GOBAN_FAKE_NCCL_STALL lets every collective hang.
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace {

constexpr int kInvalid = 4;
constexpr int kNotReady = 600;
constexpr size_t kIdBytes = 128;

struct World {
  explicit World(int n) : sends(static_cast<size_t>(n)) {}
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<const void*> sends;
  size_t arrived = 0, round = 0, users = 0;
  std::map<std::pair<int, int>, std::vector<std::vector<char>>> mail;

  void meet() {
    std::unique_lock lock(mutex);
    const size_t now = round;
    if (++arrived == sends.size()) {
      arrived = 0;
      ++round;
      changed.notify_all();
      return;
    }
    changed.wait(lock, [&] { return round != now; });
  }
};

struct Comm {
  std::shared_ptr<World> world;
  int rank, size;
};

std::mutex table;
std::map<int, std::shared_ptr<World>> worlds;
std::map<char*, size_t> memory;
int next_id = 1;

struct Posted {
  void* to;
  size_t bytes;
  int peer;
  Comm* comm;
};
thread_local std::vector<Posted> receives;

/// Where [data, data + bytes) can be read if it is one piece of a GPU's memory, else null.
char* on_gpu(const void* data, size_t bytes) {
  using Find = void*(const void*);
  static auto* const standin = reinterpret_cast<Find*>(dlsym(RTLD_DEFAULT, "goban_standin_memory"));
  if (standin != nullptr) {
    if (void* found = standin(data); found != nullptr) return static_cast<char*>(found);
  }
  const std::scoped_lock lock(table);
  const auto* at = static_cast<const char*>(data);
  for (const auto& [begin, size] : memory) {
    if (at >= begin && at + bytes <= begin + size) return begin + (at - begin);
  }
  return nullptr;
}

size_t width(int type) {
  switch (type) {
    case 1:
      return 1;
    case 4:
    case 8:
      return 8;
    case 7:
      return 4;
    default:
      return 0;
  }
}

template <typename T>
void reduce(const std::vector<const void*>& sends, size_t first, size_t count, int op, void* out) {
  auto* const to = static_cast<T*>(out);
  for (size_t i = 0; i < count; ++i) {
    T value = static_cast<const T*>(sends[0])[first + i];
    for (size_t r = 1; r < sends.size(); ++r) {
      const T other = static_cast<const T*>(sends[r])[first + i];
      value = op == 0 ? value + other : (op == 2) == (other > value) ? other : value;
    }
    to[i] = value;
  }
}

/// All ranks' elements [first, first + count) reduced into `out`, after every rank has come.
int reduced(const void* send, void* out, size_t whole, size_t first, size_t count, int type, int op,
            Comm* comm) {
  send = on_gpu(send, whole * width(type));
  out = on_gpu(out, count * width(type));
  if (send == nullptr || out == nullptr) return kInvalid;
  comm->world->sends[static_cast<size_t>(comm->rank)] = send;
  comm->world->meet();
  std::vector<char> scratch(count * width(type));
  if (type == 4) {
    reduce<long long>(comm->world->sends, first, count, op, scratch.data());
  } else if (type == 7) {
    reduce<float>(comm->world->sends, first, count, op, scratch.data());
  } else if (type == 8) {
    reduce<double>(comm->world->sends, first, count, op, scratch.data());
  } else {
    return kInvalid;
  }
  comm->world->meet();  // `out` may be a rank's `send`
  std::memcpy(out, scratch.data(), scratch.size());
  comm->world->meet();
  return 0;
}

}  // namespace

extern "C" {

struct Id {
  char bytes[kIdBytes];
};

int cudaGetDeviceCount(int* count) {
  const char* set = std::getenv("GOBAN_FAKE_GPUS");
  *count = set == nullptr ? 8 : std::atoi(set);
  return 0;
}
int cudaSetDevice(int) { return 0; }
int cudaMalloc(void** out, size_t bytes) {
  *out = std::malloc(bytes);
  const std::scoped_lock lock(table);
  memory[static_cast<char*>(*out)] = bytes;
  return 0;
}
int cudaFree(void* data) {
  {
    const std::scoped_lock lock(table);
    memory.erase(static_cast<char*>(data));
  }
  std::free(data);
  return 0;
}
int cudaMemcpy(void* to, const void* from, size_t bytes, int kind) {
  char *const there = on_gpu(to, bytes), *const here = on_gpu(from, bytes);
  if (kind != 4 || (there == nullptr) == (here == nullptr)) return 1;
  std::memcpy(there == nullptr ? to : there, here == nullptr ? from : here, bytes);
  return 0;
}
int cudaStreamCreate(void** out) {
  *out = nullptr;
  return 0;
}
int cudaStreamDestroy(void*) { return 0; }
int cudaStreamQuery(void*) {
  return std::getenv("GOBAN_FAKE_NCCL_STALL") == nullptr ? 0 : kNotReady;
}
const char* cudaGetErrorString(int) { return "fake CUDA error"; }

int ncclGetVersion(int* version) {
  *version = 23007;
  return 0;
}
int ncclGetUniqueId(Id* id) {
  const std::scoped_lock lock(table);
  std::memset(id->bytes, 0, kIdBytes);
  std::memcpy(id->bytes, &next_id, sizeof next_id);
  ++next_id;
  return 0;
}
int ncclCommInitRank(void** out, int size, Id id, int rank) {
  int number = 0;
  std::memcpy(&number, id.bytes, sizeof number);
  std::shared_ptr<World> world;
  {
    const std::scoped_lock lock(table);
    auto& known = worlds[number];
    if (!known) known = std::make_shared<World>(size);
    world = known;
    if (++known->users == static_cast<size_t>(size)) worlds.erase(number);
  }
  *out = new Comm{world, rank, size};
  return 0;
}
int ncclCommDestroy(void* comm) {
  delete static_cast<Comm*>(comm);
  return 0;
}
int ncclCommAbort(void* comm) { return ncclCommDestroy(comm); }
int ncclCommGetAsyncError(void*, int* error) {
  *error = 0;
  return 0;
}
const char* ncclGetErrorString(int) { return "fake NCCL error"; }

int ncclAllReduce(const void* in, void* out, size_t count, int type, int op, void* comm, void*) {
  return reduced(in, out, count, 0, count, type, op, static_cast<Comm*>(comm));
}
int ncclReduceScatter(const void* in, void* out, size_t count, int type, int op, void* comm,
                      void*) {
  auto* const end = static_cast<Comm*>(comm);
  return reduced(in, out, count * static_cast<size_t>(end->size),
                 count * static_cast<size_t>(end->rank), count, type, op, end);
}
int ncclAllGather(const void* in, void* out, size_t count, int type, void* comm, void*) {
  auto* const end = static_cast<Comm*>(comm);
  const size_t bytes = count * width(type);
  in = on_gpu(in, bytes);
  out = on_gpu(out, bytes * static_cast<size_t>(end->size));
  if (in == nullptr || out == nullptr) return kInvalid;
  end->world->sends[static_cast<size_t>(end->rank)] = in;
  end->world->meet();
  for (size_t i = 0; i < end->world->sends.size(); ++i) {
    std::memcpy(static_cast<char*>(out) + i * bytes, end->world->sends[i], bytes);
  }
  end->world->meet();
  return 0;
}
int ncclBroadcast(const void* in, void* out, size_t count, int type, int root, void* comm, void*) {
  auto* const end = static_cast<Comm*>(comm);
  const size_t bytes = count * width(type);
  in = on_gpu(in, bytes);
  out = on_gpu(out, bytes);
  if (in == nullptr || out == nullptr) return kInvalid;
  end->world->sends[static_cast<size_t>(end->rank)] = in;
  end->world->meet();
  std::memcpy(out, end->world->sends[static_cast<size_t>(root)], bytes);
  end->world->meet();
  return 0;
}
int ncclGroupStart() {
  receives.clear();
  return 0;
}
int ncclSend(const void* in, size_t count, int type, int peer, void* comm, void*) {
  auto* const end = static_cast<Comm*>(comm);
  const size_t bytes = count * width(type);
  in = on_gpu(in, bytes);
  if (in == nullptr || peer >= end->size) return kInvalid;
  const auto* from = static_cast<const char*>(in);
  const std::scoped_lock lock(end->world->mutex);
  end->world->mail[{end->rank, peer}].emplace_back(from, from + bytes);
  end->world->changed.notify_all();
  return 0;
}
int ncclRecv(void* out, size_t count, int type, int peer, void* comm, void*) {
  const size_t bytes = count * width(type);
  out = on_gpu(out, bytes);
  if (out == nullptr) return kInvalid;
  receives.push_back({out, bytes, peer, static_cast<Comm*>(comm)});
  return 0;
}
int ncclGroupEnd() {
  for (const Posted& each : receives) {
    World& world = *each.comm->world;
    std::unique_lock lock(world.mutex);
    auto& box = world.mail[{each.peer, each.comm->rank}];
    world.changed.wait(lock, [&] { return !box.empty(); });
    if (box.front().size() != each.bytes) return kInvalid;
    std::memcpy(each.to, box.front().data(), each.bytes);
    box.erase(box.begin());
  }
  receives.clear();
  return 0;
}

}  // extern "C"

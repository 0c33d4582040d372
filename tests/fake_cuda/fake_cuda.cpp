// A stand-in for libcuda.so.1 with one device, which checks the order of calls and computes
// nothing: time passes by 1 ms a launch, twice that for the device that FAKE_CUDA_SLOW names.
// FAKE_CUDA_FAIL names a function that fails; FAKE_CUDA_CRASH=1 crashes at the first launch.
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {
constexpr int kInvalid = 1;
bool initialised = false;
int contexts = 0;
int events = 0;
unsigned long long allocated = 0;
double now_ms = 0;
std::map<void*, double> recorded;
std::string text;

bool is(const char* variable, const char* value) {
  const char* set = std::getenv(variable);
  return set != nullptr && std::strcmp(set, value) == 0;
}
bool fails(const char* function) { return is("FAKE_CUDA_FAIL", function); }
void* handle(int number) { return static_cast<char*>(nullptr) + number; }
}  // namespace

extern "C" {
int cuInit(unsigned flags) {
  if (flags != 0 || fails("cuInit")) return 100;
  initialised = true;
  return 0;
}
int cuGetErrorString(int code, const char** out) {
  *out = code == 100 ? "no CUDA-capable device is detected" : "invalid argument";
  return 0;
}
int cuDeviceGet(int* out, int ordinal) {
  if (!initialised || ordinal != 0) return kInvalid;
  *out = 0;
  return 0;
}
int cuCtxCreate_v2(void** out, unsigned, int device) {
  if (device != 0) return kInvalid;
  ++contexts;
  *out = handle(1);
  return 0;
}
int cuCtxDestroy_v2(void*) {
  --contexts;
  return 0;
}
int cuModuleLoadData(void** out, const void* image) {
  text = static_cast<const char*>(image);
  if (contexts != 1 || text.find(".version") == std::string::npos || fails("cuModuleLoadData")) {
    return kInvalid;
  }
  *out = handle(2);
  return 0;
}
int cuModuleGetFunction(void** out, void* module, const char* name) {
  if (module != handle(2) || text.find(".entry " + std::string(name) + "(") == std::string::npos) {
    return kInvalid;
  }
  *out = handle(name[6] == 'c' ? 3 : 4);
  return 0;
}
int cuMemAlloc_v2(unsigned long long* out, size_t bytes) {
  allocated += bytes;
  *out = allocated;
  return 0;
}
int cuMemsetD32_v2(unsigned long long pointer, unsigned, size_t) {
  return pointer == 0 ? kInvalid : 0;
}
int cuLaunchKernel(void* function, unsigned groups, unsigned, unsigned, unsigned threads, unsigned,
                   unsigned, unsigned, void*, void** arguments, void**) {
  if (is("FAKE_CUDA_CRASH", "1")) std::raise(SIGKILL);  // sanitizers let this one pass
  if (function == nullptr || groups == 0 || threads == 0 || fails("cuLaunchKernel"))
    return kInvalid;
  if (**static_cast<unsigned long long**>(static_cast<void*>(arguments)) == 0) return kInvalid;
  const char* device = std::getenv("CUDA_VISIBLE_DEVICES");
  now_ms += device != nullptr && is("FAKE_CUDA_SLOW", device) ? 2 : 1;
  return 0;
}
int cuEventCreate(void** out, unsigned) {
  *out = handle(10 + events++);
  return 0;
}
int cuEventRecord(void* event, void*) {
  recorded[event] = now_ms;
  return 0;
}
int cuEventSynchronize(void* event) { return recorded.count(event) == 1 ? 0 : kInvalid; }
int cuEventElapsedTime(float* out, void* begin, void* end) {
  *out = static_cast<float>(recorded[end] - recorded[begin]);
  return 0;
}
}

// A library to preload: writes down every exception of C++ that is thrown, one line each, to the
// file that BREGBOOST_ERROR_RECORD names. So the tests prove that the errors of docs/errors.md can
// be provoked, see scripts/error_catalogue.
#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <typeinfo>

namespace {

using Destructor = void (*)(void*);
using Throw = void (*)(void*, std::type_info*, Destructor);

std::string NameOf(const std::type_info& type) {
  int status = 0;
  char* const readable = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? readable : type.name();
  std::free(readable);
  return name;
}

// One line: line breaks and backslashes are escaped.
std::string Escaped(const char* text) {
  std::string escaped;
  for (const char* at = text; *at != '\0'; ++at) {
    if (*at == '\n') {
      escaped += "\\n";
    } else if (*at == '\\') {
      escaped += "\\\\";
    } else {
      escaped += *at;
    }
  }
  return escaped;
}

void Record(void* thrown, const std::type_info& type) {
  const char* const file = std::getenv("BREGBOOST_ERROR_RECORD");
  if (file == nullptr) return;
  void* object = thrown;
  if (!typeid(std::exception).__do_catch(&type, &object, 1)) return;
  const std::string line =
      NameOf(type) + '\t' + Escaped(static_cast<std::exception*>(object)->what()) + '\n';
  static std::mutex mutex;
  static auto& seen = *new std::set<std::string>;  // never destroyed: threads may outlive main()
  const std::lock_guard lock(mutex);
  if (!seen.insert(line).second) return;
  const int descriptor = ::open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return;
  // All at once, so that the lines of several processes do not mix.
  [[maybe_unused]] const ssize_t written = ::write(descriptor, line.data(), line.size());
  ::close(descriptor);
}

}  // namespace

extern "C" void __cxa_throw(void* thrown, std::type_info* type, Destructor destructor) {
  static const auto original = reinterpret_cast<Throw>(::dlsym(RTLD_NEXT, "__cxa_throw"));
  try {
    Record(thrown, *type);
  } catch (const std::bad_alloc&) {  // then it is not written down
  }
  original(thrown, type, destructor);
  std::abort();  // it does not return
}

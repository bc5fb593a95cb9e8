#include "learners/detail/python_search_path.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

namespace bregboost::detail {
namespace {

// A start takes milliseconds; one that hangs must not hang the training.
constexpr std::chrono::seconds kPatience{10};

// A path may hold any byte but NUL.
constexpr const char* kProgram =
    "import os, sys; sys.stdout.buffer.write(b'\\0'.join(map(os.fsencode, sys.path)))";

// What arrives before the other end closes; nullopt if that takes too long.
std::optional<std::string> ReadAll(int descriptor) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::string text;
  std::array<char, 4096> buffer;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    pollfd ready{.fd = descriptor, .events = POLLIN, .revents = 0};
    const int count = ::poll(&ready, 1, static_cast<int>(left.count()));
    if (count < 0 && errno != EINTR) return std::nullopt;
    if (count <= 0) continue;
    const ssize_t size = ::read(descriptor, buffer.data(), buffer.size());
    if (size == 0) return text;
    if (size < 0 && errno != EINTR) return std::nullopt;
    if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

std::string AskPython() {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string name = "python3";
  std::string option = "-c";
  std::string program = kProgram;
  const std::array<char*, 4> arguments = {name.data(), option.data(), program.data(), nullptr};
  pid_t child = 0;
  const int status =
      ::posix_spawnp(&child, name.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::optional<std::string> text;
  if (status == 0) {
    text = ReadAll(ends[0]);
    if (!text) ::kill(child, SIGKILL);
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  ::close(ends[0]);
  return text.value_or("");
}

std::vector<std::string> SplitAtNul(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = text.find('\0');
    const std::string_view part = text.substr(0, end);
    if (!part.empty()) parts.emplace_back(part);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

}  // namespace

std::vector<std::string> PythonSearchPath() {
  static std::mutex mutex;
  static std::map<std::string, std::vector<std::string>> answers;
  const char* path = std::getenv("PATH");
  const std::lock_guard lock(mutex);
  const auto [answer, is_new] = answers.try_emplace(path == nullptr ? "" : path);
  if (is_new) answer->second = SplitAtNul(AskPython());
  return answer->second;
}

}  // namespace bregboost::detail

#pragma once

#include "guest/agent/confine.hpp"
#include "guest/agent_config.hpp"
#include "guest/identity.hpp"
#include "guest/lifted_payload.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <sys/types.h>

namespace paddock::guest {

/// The calls that decide whether a write is durable, and how a path is resolved. Real ones by default; a test counts them,
/// or makes one fail.
struct file_calls {
  std::function<ssize_t(int fd, const char* bytes, std::size_t size, off_t at)> write;
  std::function<int(int fd, mode_t mode)> set_mode;
  std::function<int(int fd)> sync;
  std::function<int(int from, const char* old_name, int to, const char* new_name)> rename;
  open_beneath beneath;

  /// The system's.
  file_calls();
};

/// The temporaries that a part is being written to, each by where it is and not by its name alone. On any thread.
class parts_in_flight {
public:
  /// Held while a part is written.
  class claim {
  public:
    claim() = default;
    claim(claim&& other) noexcept;
    claim& operator=(claim&& other) = delete;
    ~claim();
    explicit operator bool() const noexcept {
      return of_ != nullptr;
    }

  private:
    friend class parts_in_flight;
    parts_in_flight* of_ = nullptr;
    std::string which_;
  };

  /// Empty: another part is on it.
  [[nodiscard]] claim take(std::string which);

private:
  std::mutex mutex_;
  std::set<std::string> taken_;
};

/// Creates `directory` and what is missing above it. 0, or an errno value.
[[nodiscard]] int make_directories(const std::string& directory);

// The operations block. Each takes the `body` of its request and answers the whole frame of the reply.

/// `read-file`, whole or ranged ([G] 7.2). A whole read has no limit of its own but that of a frame. As base64 it takes
/// 1.4 times the file in memory, as text 2 times, 2.4 where the text is full of escapes.
[[nodiscard]] std::string read_file(const agent_config& config, const guest_boot_id& boot, const file_calls& calls,
                                    const nlohmann::json& body);

/// What a `write-file` brings besides its body.
struct write_surroundings {
  const agent_config& config;
  const guest_boot_id& boot;
  const file_calls& calls;
  parts_in_flight& parts;
};

/// `write-file`, whole body or one part ([G] 7.4, 7.5). `ok` to a whole body or to a final part means that the bytes and
/// the directory entry are on the device. `message` is the request; it is used up.
[[nodiscard]] std::string write_file(const write_surroundings& with, lifted_payload message);

} // namespace paddock::guest

#pragma once

#include "guest/detached_cursor.hpp"
#include "guest/flows/framed_stream.hpp"
#include "guest/flows/work_host.hpp"
#include "guest/host_work_replies.hpp"

#include <memory>
#include <optional>
#include <string>

namespace paddock::guest {

/// What one observation of a retained execution shares: who it is, where it stands, who takes its output.
struct observation {
  std::string execution_id;
  bool bytes = false; // the guest has `exec-bytes`
  log_sink* output = nullptr;
  detached_cursor cursor{};
  std::optional<guest_boot_id> boot{};
};

/// The events of one stream of a retained execution, of `execute` or of an attach: hands output on, moves the cursor, and
/// keeps the end.
class retained_sink final : public event_sink {
public:
  enum class kind { execute, attach };
  retained_sink(std::shared_ptr<observation> of, kind which) : of_(std::move(of)), which_(which) {
  }

  boost::asio::awaitable<result<void>> take(std::string payload) override;
  [[nodiscard]] bool complete() const override {
    return end_ || attach_end_;
  }
  /// The guest has said where this attach begins.
  [[nodiscard]] bool attached() const noexcept {
    return attached_;
  }
  /// And that it has got its process.
  [[nodiscard]] bool at_work() const noexcept {
    return at_work_;
  }
  /// How the execution ended. @pre `complete()`
  [[nodiscard]] result<attached_end> end() const;

private:
  result<void> wrong(std::string text) const;

  std::shared_ptr<observation> of_;
  kind which_;
  bool attached_ = false;
  bool at_work_ = false;
  std::optional<command_end> end_;
  std::optional<attach_result_event> attach_end_;
};

} // namespace paddock::guest

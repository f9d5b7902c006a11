#include "guest/agent/terminal_events.hpp"

#include <utility>
#include <variant>

namespace paddock::guest {

namespace {

constexpr std::size_t input_window = 64 * 1024;

// So that many events without bytes are bounded as well.
constexpr std::size_t event_cost = 64;

} // namespace

void terminal_events::frame(std::string_view payload) {
  if (over_)
    return;
  auto event = read_terminal_event(payload, as_base64_);
  if (std::holds_alternative<std::monostate>(event))
    return;
  if (program_) {
    apply(std::move(event));
  } else {
    if (const auto* input = std::get_if<terminal_input>(&event))
      early_bytes_ += input->bytes.size();
    early_bytes_ += event_cost;
    early_.push_back(std::move(event));
  }
  if (waiting() > input_window)
    to_->pause_reading(); // `drained` goes on
}

void terminal_events::begin(std::shared_ptr<live_program> program, std::shared_ptr<live_session> session) {
  program_ = std::move(program);
  session_ = std::move(session);
  early_bytes_ = 0;
  for (auto& event : std::exchange(early_, {}))
    apply(std::move(event));
  drained();
}

void terminal_events::apply(terminal_event event) {
  if (auto* input = std::get_if<terminal_input>(&event)) {
    if (session_)
      session_->note_input();
    return program_->feed(std::move(input->bytes));
  }
  if (const auto* size = std::get_if<terminal_size>(&event))
    return program_->resize(*size);
  if (const auto* kill = std::get_if<terminal_kill>(&event); kill != nullptr && !program_->has_ended())
    program_->signal(kill->signal, nullptr);
}

std::size_t terminal_events::waiting() const {
  return program_ ? program_->waiting_input() : early_bytes_;
}

void terminal_events::drained() {
  if (waiting() <= input_window)
    to_->resume_reading();
}

void terminal_events::end() {
  over_ = true;
  early_.clear();
  program_ = nullptr;
  session_ = nullptr;
}

} // namespace paddock::guest

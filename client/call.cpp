#include "client/call.hpp"

#include "base/time.hpp"

#include <chrono>
#include <poll.h>
#include <utility>

namespace paddock::client {

call::call(std::unique_ptr<running_call> other_side, std::shared_ptr<inbox> in, effect what) :
  other_side_(std::move(other_side)), in_(std::move(in)), what_(what) {
}

std::optional<call_event> call::next(std::optional<std::chrono::milliseconds> within) {
  if (const auto n = std::exchange(taken_, 0); n > 0)
    other_side_->grant(n);
  const auto time = real_time{};
  const auto until = deadline{time, within.value_or(std::chrono::milliseconds::zero())};
  while (!ended_) {
    if (news_.empty())
      news_ = in_->take();
    if (news_.empty()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until.left(time));
      if (within && left.count() == 0)
        return std::nullopt;
      auto bell = pollfd{in_->bell(), POLLIN, 0};
      // A longer wait than poll takes is several.
      ::poll(&bell, 1, within ? static_cast<int>(std::min<std::int64_t>(left.count(), 1'000'000)) : -1);
      continue;
    }
    auto first = std::move(news_.front());
    news_.pop_front();
    if (auto out = seen(std::move(first)))
      return out;
  }
  return std::nullopt;
}

std::optional<call_event> call::seen(call_news x) {
  if (std::holds_alternative<call_gone>(x)) {
    // Who watches may run before who takes the output, and the end may still lie there.
    other_side_->drain();
    return std::nullopt;
  }
  auto out = std::holds_alternative<call_silent>(x) ? call_event{node_gone(what_)} : std::get<call_event>(std::move(x));
  if (const auto* piece = std::get_if<output_piece>(&out))
    taken_ = piece->content.size();
  ended_ = std::holds_alternative<call_end>(out) || std::holds_alternative<problem>(out);
  return out;
}

void call::input(bytes piece, bool last) {
  other_side_->input(std::move(piece), last);
}
void call::cancel() {
  other_side_->cancel();
}
void call::leave() {
  other_side_->leave();
}
void call::resize(int columns, int rows) {
  other_side_->resize(columns, rows);
}
void call::signal(std::string name) {
  other_side_->signal(std::move(name));
}

} // namespace paddock::client

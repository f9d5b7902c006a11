#pragma once

#include "client/target.hpp"

#include <string>
#include <utility>
#include <vector>

namespace paddock::test {

/// What was said to a call.
struct call_log {
  std::vector<std::uint64_t> granted;
  std::vector<std::pair<std::string, bool>> inputs;
  std::vector<std::string> said; // cancel, leave, resize, signal, drain, gone
};

class scripted_call final : public client::running_call {
public:
  scripted_call(std::shared_ptr<call_log> log, std::shared_ptr<client::inbox> to, std::vector<client::call_news> when_cancelled) :
    log_(std::move(log)), to_(std::move(to)), when_cancelled_(std::move(when_cancelled)) {
  }
  ~scripted_call() override {
    log_->said.emplace_back("gone");
  }
  scripted_call(const scripted_call&) = delete;
  scripted_call& operator=(const scripted_call&) = delete;
  void grant(std::uint64_t n) override {
    log_->granted.push_back(n);
  }
  void input(bytes piece, bool last) override {
    log_->inputs.emplace_back(std::string{reinterpret_cast<const char*>(piece.data()), piece.size()}, last);
  }
  void cancel() override {
    log_->said.emplace_back("cancel");
    for (auto& x : std::exchange(when_cancelled_, {}))
      to_->put(std::move(x));
  }
  void leave() override {
    log_->said.emplace_back("leave");
  }
  void resize(int, int) override {
    log_->said.emplace_back("resize");
  }
  void signal(std::string) override {
    log_->said.emplace_back("signal");
  }
  void drain() override {
    log_->said.emplace_back("drain");
  }

private:
  std::shared_ptr<call_log> log_;
  std::shared_ptr<client::inbox> to_;
  std::vector<client::call_news> when_cancelled_;
};

inline bytes bytes_of(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

/// A guest that has said all that it will say by the time it is asked, but for what it says of a cancel.
class scripted_target final : public client::target {
public:
  client::result<guest_answer> ask(guest_question) const override {
    return answer;
  }

  std::vector<client::call_news> says;
  std::vector<client::call_news> when_cancelled;
  std::optional<problem> refuses;
  guest_answer answer;
  std::shared_ptr<call_log> log = std::make_shared<call_log>();
  mutable std::vector<call_spec> started;
  mutable std::shared_ptr<client::inbox> to; // of the latest call

private:
  client::result<std::unique_ptr<client::running_call>> begin(call_spec what, std::shared_ptr<client::inbox> in) const override {
    to = in;
    started.push_back(std::move(what));
    if (refuses)
      return tl::unexpected{*refuses};
    for (const auto& x : says)
      in->put(x);
    return std::make_unique<scripted_call>(log, to, when_cancelled);
  }
};

} // namespace paddock::test

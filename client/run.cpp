#include "client/run.hpp"

#include "messages/error.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <poll.h>
#include <utility>

namespace paddock::client {

namespace {

class carrier {
public:
  carrier(call& what, const streams& through) : call_(what), through_(through) {
  }

  result<call_end> run() {
    while (!call_.ended()) {
      while (auto x = call_.next(std::chrono::milliseconds::zero()))
        if (auto over = std::visit([this](auto& one) { return on(one); }, *x))
          return std::move(*over);
      std::array<pollfd, 2> ready = {{{call_.bell(), POLLIN, 0}, {through_.watch.fd, POLLIN, 0}}};
      ::poll(ready.data(), ready.size(), -1);
      if (ready[1].revents != 0 && through_.watch.woken())
        call_.cancel();
    }
    return tl::unexpected{make_problem(verdict::usage, "InvalidArgument", "the call has ended")};
  }

private:
  using end = std::optional<result<call_end>>;

  end on(output_piece& x) {
    if (through_.output)
      through_.output(x.which, x.content);
    return {};
  }
  end on(input_wanted& x) {
    wanted_ += x.bytes;
    while (wanted_ > 0 && !input_ended_) {
      auto piece = through_.input ? through_.input(std::min<std::uint64_t>(wanted_, chunk_limit)) : bytes{};
      wanted_ -= std::min<std::uint64_t>(wanted_, piece.size());
      input_ended_ = piece.empty();
      call_.input(std::move(piece), input_ended_);
    }
    return {};
  }
  end on(call_note& x) {
    if (through_.noted)
      through_.noted(x);
    return {};
  }
  end on(call_end& x) {
    return result<call_end>{std::move(x)};
  }
  end on(problem& x) {
    return result<call_end>{tl::unexpected{std::move(x)}};
  }

  call& call_;
  const streams& through_;
  std::uint64_t wanted_ = 0;
  bool input_ended_ = false;
};

} // namespace

result<call_end> carry(call& what, const streams& through) {
  return carrier{what, through}.run();
}

result<call_end> run(const target& at, job what, const streams& through) {
  auto started = at.start(std::move(what));
  if (!started)
    return tl::unexpected{std::move(started.error())};
  return carry(*started, through);
}

result<command_output> output_of(const target& at, job what, std::size_t most, const stream_watch& watch) {
  auto out = command_output{};
  const auto keep = [&](int which, std::span<const std::byte> piece) {
    auto& to = which == 2 ? out.err : out.out;
    const auto n = std::min(piece.size(), most - to.size());
    to.append(reinterpret_cast<const char*>(piece.data()), n);
    out.cut = out.cut || n < piece.size();
  };
  auto end = run(at, std::move(what), {keep, {}, {}, watch});
  if (!end)
    return tl::unexpected{std::move(end.error())};
  out.end = std::move(*end);
  return out;
}

result<call_end> write_file(const target& at, std::string path, std::string_view content) {
  auto through = streams{};
  through.input = [left = content](std::size_t most) mutable {
    const auto* first = reinterpret_cast<const std::byte*>(left.data());
    auto piece = bytes(first, first + std::min(most, left.size()));
    left.remove_prefix(piece.size());
    return piece;
  };
  return run(at, write_spec{std::move(path), content.size()}, through);
}

} // namespace paddock::client

#include "guest/flows/file_write.hpp"

#include "base/base64.hpp"
#include "base/random.hpp"
#include "guest/flows/bounded_call.hpp"
#include "guest/flows/features_of.hpp"
#include "guest/flows/requests.hpp"
#include "guest/host_file_replies.hpp"
#include "guest/host_file_requests.hpp"
#include "guest/host_replies.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <utility>

namespace paddock::guest {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;

namespace {

tl::unexpected<failure> fail(failure x) {
  return tl::unexpected{std::move(x)};
}

/// The input, cut where a request is full.
class cut_input {
public:
  explicit cut_input(input_source& from) : from_(from) {
  }
  /// Encodes into `frame` up to `n` bytes of what is left; says how many there were.
  asio::awaitable<std::uint64_t> fill(std::string& frame, std::uint64_t n) {
    auto encoder = base64_encoder{};
    auto done = std::uint64_t{0};
    while (done < n) {
      const bool more = co_await look();
      if (!more)
        break;
      const auto part = std::string_view{held_}.substr(at_, n - done);
      encoder.add(frame, part);
      at_ += part.size();
      done += part.size();
    }
    encoder.finish(frame);
    co_return done;
  }
  /// Whether anything is left.
  asio::awaitable<bool> look() {
    while (!ended_ && at_ == held_.size()) {
      held_ = co_await from_.next();
      at_ = 0;
      ended_ = held_.empty();
    }
    co_return !ended_;
  }

private:
  input_source& from_;
  std::string held_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

/// The frames of one write in parts, in order.
struct part_sender {
  flow_time& time;
  transport_options with;
  file_options files;
  endpoint where;
  std::string target;
  std::optional<std::uint64_t> size;
  deadline until;
  std::shared_ptr<write_trace> left;
  std::string temporary;
  std::uint64_t part = 0; // bytes in each
  std::uint64_t offset = 0;

  [[nodiscard]] std::optional<failure> misfit(std::uint64_t n, bool last) const {
    const auto total = offset + n;
    if (total > files.max_write_bytes)
      return file_too_large{total, files.max_write_bytes};
    if (size && (total > *size || (last && total != *size)))
      return invalid_argument{"the input has another size than was said"};
    return std::nullopt;
  }
};

/// A request that is ready but for its end.
struct filled {
  std::string frame; // up to and with the content
  std::uint64_t n = 0;
};

asio::awaitable<void> fill_next(const part_sender& it, cut_input& input, filled& next) {
  next.frame = part_write(it.where, it.temporary, it.offset + it.part, std::nullopt).before;
  next.frame.reserve(next.frame.size() + base64_size(it.part) + 1024);
  next.n = co_await input.fill(next.frame, it.part);
  co_await input.look();
}

/// Thrown to end what goes on beside a part that was not written; its reply says why.
struct part_failed {};

asio::awaitable<void> send_part(const part_sender& it, filled what, std::optional<std::uint64_t> total, result<nlohmann::json>& reply) {
  reply = co_await one_reply(it.time, it.with, it.where, std::move(what.frame), control_ceiling, it.until, it.left->seen);
  if (reply)
    if (auto good = read_part_reply(*reply, what.n, total); !good)
      reply = tl::unexpected{std::move(good.error())};
  if (!reply)
    throw part_failed{};
}

/// As `send_part`; while the part is under way the next one is made ready.
asio::awaitable<void> send_and_fill(const part_sender& it, filled what, cut_input& input, filled& next, result<nlohmann::json>& reply) {
  auto both = send_part(it, std::move(what), std::nullopt, reply) && fill_next(it, input, next);
  try {
    co_await std::move(both);
  } catch (...) {
    // Several may have been thrown; a part that has failed is among them, or the call is being ended.
    if (reply)
      throw;
  }
}

/// Sends what `now` holds, and the parts that follow it.
asio::awaitable<result<file_written>> send_parts(part_sender it, cut_input& input, filled now) {
  while (true) {
    // The last part is known by what does not follow it.
    const bool more = co_await input.look();
    if (auto wrong = it.misfit(now.n, !more))
      co_return fail(std::move(*wrong));
    if (more && it.offset + now.n >= it.files.max_write_bytes)
      co_return fail(file_too_large{it.offset + now.n + 1, it.files.max_write_bytes});
    const auto rename_to = more ? std::nullopt : std::optional{it.target};
    now.frame += part_write(it.where, it.temporary, it.offset, rename_to).after;
    seal(now.frame);
    it.left->temporary = it.temporary;
    const auto n = now.n;
    auto reply = result<nlohmann::json>{};
    if (!more) {
      try {
        co_await send_part(it, std::move(now), it.offset + n, reply);
      } catch (const part_failed&) {
      }
      if (!reply)
        co_return tl::unexpected{std::move(reply.error())};
      co_return file_written{it.offset + n, boot_in(*reply)};
    }
    auto next = filled{};
    co_await send_and_fill(it, std::move(now), input, next, reply);
    if (!reply)
      co_return tl::unexpected{std::move(reply.error())};
    it.offset += n;
    now = std::move(next);
  }
}

} // namespace

asio::awaitable<result<file_written>> send_file(flow_time& time, transport_options with, file_options files, feature_cache& cache,
                                                endpoint where, std::string path, input_source& from, std::optional<std::uint64_t> size,
                                                deadline until, std::shared_ptr<write_trace> left) {
  const auto whole = whole_write(where, path);
  const auto temporary = temporary_path(path, new_uuid());
  const auto single = std::min(whole.room(), files.part_bytes.value_or(request_ceiling));
  const auto largest = part_size(where, temporary, path, files.max_write_bytes, files.part_bytes);
  const auto part = std::min(largest, files.later_part_bytes);
  if (part == 0)
    co_return fail(file_too_large{size.value_or(0), 0});
  auto input = cut_input{from};
  // What is to be sent in parts has the path of the temporary in front of the content.
  const auto in_parts = size && *size > single;
  if (in_parts) {
    auto known = co_await features_of(time, with, cache, where, until);
    if (!known)
      co_return tl::unexpected{std::move(known.error())};
    if (!has_feature(*known, feature::write_file_parts))
      co_return fail(frame_too_large{whole.size_with(*size), request_ceiling});
  }
  auto frame = in_parts ? part_write(where, temporary, 0, std::nullopt).before : whole.before;
  const auto before = frame.size();
  frame.reserve(in_parts ? before + base64_size(part) + 1024
                : !size  ? request_ceiling + frame_header_size
                         : frame_header_size + whole.size_with(*size));
  const auto n = co_await input.fill(frame, in_parts ? part : size ? *size : std::min(single, largest));
  const bool more = co_await input.look();
  auto sender = part_sender{time, with, files, where, path, size, until, left, temporary, part, 0};
  if (size && more && !in_parts)
    co_return fail(invalid_argument{"the input has another size than was said"});
  if (!in_parts && !more) {
    if (auto wrong = sender.misfit(n, true))
      co_return fail(std::move(*wrong));
    frame += whole.after;
    seal(frame);
    auto reply = co_await one_reply(time, with, where, std::move(frame), control_ceiling, until, left->seen);
    if (!reply)
      co_return tl::unexpected{std::move(reply.error())};
    auto written = read_written(*reply, n);
    if (!written)
      co_return tl::unexpected{std::move(written.error())};
    co_return file_written{*written, boot_in(*reply)};
  }
  if (!in_parts) {
    auto known = co_await features_of(time, with, cache, where, until);
    if (!known)
      co_return tl::unexpected{std::move(known.error())};
    if (!has_feature(*known, feature::write_file_parts))
      co_return fail(frame_too_large{whole.size_with(n + 1), request_ceiling});
    frame.replace(0, before, part_write(where, temporary, 0, std::nullopt).before);
  }
  auto first = filled{};
  first.frame = std::move(frame);
  first.n = n;
  co_return co_await send_parts(std::move(sender), input, std::move(first));
}

asio::awaitable<void> discard(flow_time& time, transport_options with, file_options files, endpoint where, std::string temporary) {
  auto frame = discard_frame(where, temporary);
  if (!frame)
    co_return;
  const auto until = deadline{time, files.discard};
  auto lane = co_await asio::this_coro::executor;
  auto kin = std::make_shared<family>(time, lane);
  auto seen = std::make_shared<trace>();
  auto asking = kin->start(one_reply(time, std::move(with), std::move(where), std::move(*frame), control_ceiling, until, seen));
  co_await kin->settle(asking, until.at(), false);
  co_await kin->close();
}

} // namespace paddock::guest

#include "guest/flows/file_transport.hpp"

#include "base/flows/unthrown.hpp"
#include "guest/features.hpp"
#include "guest/flows/bounded_call.hpp"
#include "guest/flows/features_of.hpp"
#include "guest/flows/file_read.hpp"
#include "guest/flows/file_walk.hpp"
#include "guest/flows/file_write.hpp"
#include "guest/flows/pinnable.hpp"
#include "guest/host_file_requests.hpp"

#include <boost/asio/this_coro.hpp>

namespace paddock::guest {

namespace asio = boost::asio;

namespace {

// A guest without `read-file-stream` gives a file as one reply, and it is held as a whole.
constexpr std::size_t largest_whole_file = 64 * 1024 * 1024;

tl::unexpected<failure> fail(failure x) {
  return tl::unexpected{std::move(x)};
}

class tcp_file_host final : public file_host {
public:
  tcp_file_host(flow_time& time, host& through, transport_options with, file_options files) :
    time_(time), through_(through), with_(std::move(with)), files_(std::move(files)), features_(with_.cached_endpoints) {
  }

  asio::awaitable<result<file_read>> read(endpoint where, std::string path, file_part part, byte_sink& to, deadline until) override {
    return unthrown(read_part(std::move(where), std::move(path), part, &to, until));
  }

  asio::awaitable<result<file_written>> write(endpoint where, std::string path, input_source& from, std::optional<std::uint64_t> size,
                                              deadline until) override {
    return unthrown(write_all(std::move(where), std::move(path), &from, size, until));
  }

  asio::awaitable<result<std::vector<listed_file>>> list(endpoint where, std::string root, deadline until) override {
    return unthrown(list_files(time_, through_, std::move(where), std::move(root), until));
  }

  asio::awaitable<result<void>> walk(endpoint where, walk_request what, entry_sink& to, deadline until) override {
    return unthrown(walk_files(time_, through_, files_, std::move(where), std::move(what), to, until));
  }

private:
  asio::awaitable<result<file_read>> read_part(endpoint where, std::string path, file_part part, byte_sink* to, deadline until) {
    auto frame = read_stream_frame(where, path, part.offset, part.length);
    if (!frame)
      co_return tl::unexpected{std::move(frame.error())};
    auto known = co_await features_of(time_, with_, features_, where, until);
    if (!known)
      co_return tl::unexpected{std::move(known.error())};
    if (auto problem = lacks_pin(where, *known))
      co_return fail(std::move(*problem));
    if (has_feature(*known, feature::read_file_stream))
      co_return co_await stream_file(time_, with_, files_, std::move(where), std::move(path), part, *to, until);
    if (part.offset || part.length)
      co_return fail(unsupported{std::string{feature::read_file_stream}});
    auto all = co_await through_.read_file(where, std::move(path), largest_whole_file, until);
    if (!all)
      co_return tl::unexpected{std::move(all.error())};
    auto seen = std::make_shared<trace>();
    seen->connected = true;
    auto giving = hand_out(std::move(*all), *to);
    co_return co_await bounded_call<file_read>(time_, std::move(where), std::move(seen), std::move(giving), until);
  }

  asio::awaitable<result<file_written>> write_all(endpoint where, std::string path, input_source* from, std::optional<std::uint64_t> size,
                                                  deadline until) {
    if (size && *size > files_.max_write_bytes)
      co_return fail(file_too_large{*size, files_.max_write_bytes});
    if (auto good = check_path(path); !good)
      co_return tl::unexpected{std::move(good.error())};
    if (path.ends_with('/'))
      co_return fail(invalid_argument{"the path names a folder"});
    auto may = co_await pinnable(time_, with_, features_, where, until);
    if (!may)
      co_return tl::unexpected{std::move(may.error())};
    auto left = std::make_shared<write_trace>();
    auto sending = send_file(time_, with_, files_, features_, where, std::move(path), *from, size, until, left);
    auto got = co_await bounded_call<file_written>(time_, where, left->seen, std::move(sending), until);
    // The failure stands, whatever becomes of the clean-up.
    if (!got && !left->temporary.empty() && left->seen->connected)
      co_await discard(time_, with_, files_, std::move(where), left->temporary);
    co_return got;
  }

  flow_time& time_;
  host& through_;
  transport_options with_;
  file_options files_;
  feature_cache features_;
};

} // namespace

std::unique_ptr<file_host> make_file_host(flow_time& time, host& through, transport_options with, file_options files) {
  return std::make_unique<tcp_file_host>(time, through, std::move(with), std::move(files));
}

} // namespace paddock::guest

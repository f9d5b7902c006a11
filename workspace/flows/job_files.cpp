// Files: read, written, listed.

#include "workspace/flows/guest_jobs.hpp"

#include <nlohmann/json.hpp>

namespace paddock::workspace {

namespace asio = boost::asio;

namespace {

class bytes_to final : public guest::byte_sink {
public:
  explicit bytes_to(const job_place& at) : at_(at) {
  }
  asio::awaitable<void> take(std::string bytes) override {
    co_await hand_on(at_.call, guest::stream::out, std::move(bytes), at_.time, at_.until);
  }

private:
  const job_place& at_;
};

std::string line_of(const guest::listed_file& x) {
  return nlohmann::ordered_json{{"path", x.path}, {"size", x.size}}.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
         + "\n";
}

class lines_to final : public guest::entry_sink {
public:
  explicit lines_to(const job_place& at) : at_(at) {
  }
  asio::awaitable<bool> take(guest::listed_file x) override {
    ++entries;
    auto line = line_of(x);
    co_return co_await hand_on(at_.call, guest::stream::out, std::move(line), at_.time, at_.until);
  }
  std::uint64_t entries = 0;

private:
  const job_place& at_;
};

/// The file may have come whole, but who asked for it has not had all of it.
tl::unexpected<failure> not_all(const job_place& at) {
  if (at.call->broken)
    return fail(*at.call->broken);
  if (at.until.passed(at.time))
    return fail(guest::lost{"the time was up before all of it was taken"});
  return fail(guest::withdrawn{});
}

} // namespace

job_flow carry_out(job_place at, read_job what) {
  auto to = bytes_to{at};
  auto got = co_await at.in.files.read(at.where, std::move(what.path), what.part, to, at.until);
  if (at.call->broken)
    co_return fail(*at.call->broken);
  if (!got)
    co_return fail(std::move(got.error()));
  if (at.call->dropped)
    co_return not_all(at);
  auto end = job_end{};
  end.size = got->length;
  end.boot = std::move(got->boot);
  co_return end;
}

job_flow carry_out(job_place at, write_job what) {
  auto from = source{at.call, at.time, at.until};
  at.call->open_window(input_window);
  auto got = co_await at.in.files.write(at.where, std::move(what.path), from, what.size, at.until);
  if (at.call->broken)
    co_return fail(*at.call->broken);
  if (!got)
    co_return fail(std::move(got.error()));
  auto end = job_end{};
  end.size = got->bytes;
  end.boot = std::move(got->boot);
  co_return end;
}

job_flow carry_out(job_place at, walk_job what) {
  auto to = lines_to{at};
  if (what.what.max_entries == 0) {
    auto got = co_await at.in.files.list(at.where, std::move(what.what.root), at.until);
    if (!got)
      co_return fail(std::move(got.error()));
    for (auto& x : *got) {
      auto one = std::move(x);
      const auto more = co_await to.take(std::move(one));
      if (!more)
        break;
    }
  } else {
    auto got = co_await at.in.files.walk(at.where, std::move(what.what), to, at.until);
    if (!got)
      co_return fail(std::move(got.error()));
  }
  if (at.call->broken || at.call->dropped)
    co_return not_all(at);
  auto end = job_end{};
  end.size = to.entries;
  co_return end;
}

} // namespace paddock::workspace

// What a client sends over one connection: the first byte says how long the pieces are in which it arrives, all that follows is sent.
// However it is cut, the same requests are read; no request breaks a bound or has a line break in its head.

#include "base/flows/http_request_reader.hpp"
#include "tests/fuzz/require.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

using namespace paddock;

namespace {

constexpr auto bound = http_limits{1024, 256};

struct conversation {
  std::vector<received_request> requests;
  std::size_t invitations = 0;
  unsigned refusal = 0; // 0: the bytes ended first
};

/// Reads as the server does.
conversation hold(std::string_view bytes, std::size_t piece) {
  using progress = http_request_reader::progress;
  conversation out;
  auto from = http_request_reader{bound};
  for (;;) {
    auto at = from.read();
    while (at == progress::more) {
      if (from.invites())
        ++out.invitations;
      if (bytes.empty())
        return out;
      const auto room = from.room();
      const auto n = std::min({bytes.size(), piece, room.size()});
      require(n != 0);
      std::memcpy(room.data(), bytes.data(), n);
      bytes.remove_prefix(n);
      from.arrived(n);
      at = from.read();
    }
    if (at == progress::refused) {
      out.refusal = from.refusal();
      return out;
    }
    out.requests.push_back(from.take());
  }
}

void check(const received_request& x) {
  const auto plain = [](std::string_view text) { return text.find_first_of(std::string_view{"\r\n\0", 3}) == std::string_view::npos; };
  require(!x.what.method.empty() && !x.what.target.empty() && plain(x.what.method) && plain(x.what.target));
  require(x.what.body.size() <= bound.body);
  for (const auto& [name, value] : x.what.headers)
    require(!name.empty() && plain(name) && plain(value));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 16 * 1024)
    return 0;
  const auto bytes = std::string_view{reinterpret_cast<const char*>(data) + 1, size - 1};
  const auto whole = hold(bytes, bytes.size());
  const auto cut = hold(bytes, std::size_t{data[0]} + 1);
  // A wrong head may be refused before it is complete or only then, and of two faults either may be told.
  for (const auto& x : {whole, cut})
    require(x.refusal == 0 || x.refusal == 400 || x.refusal == 413 || x.refusal == 431);
  require(whole.requests.size() == cut.requests.size() && cut.invitations <= cut.requests.size() + 1);
  for (auto i = std::size_t{0}; i < whole.requests.size(); ++i) {
    const auto& one = whole.requests[i];
    const auto& two = cut.requests[i];
    check(one);
    require(one.what.method == two.what.method && one.what.target == two.what.target && one.what.headers == two.what.headers);
    require(one.what.body == two.what.body && one.keep == two.keep && one.old == two.old);
  }
  return 0;
}

// Frames and envelopes from bytes of anyone's choosing. The first byte chooses the size of the pieces in which the rest
// arrives. Besides not crashing: pieces change nothing, what was read frames back to what was sent, and both readers of a
// payload agree on what is JSON.
#include "guest/envelope.hpp"
#include "guest/frame.hpp"
#include "tests/fuzz/require.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

using namespace paddock::guest;
using paddock::require;

namespace {

constexpr std::uint64_t ceiling = 4096;

struct outcome {
  std::vector<std::string> payloads;
  std::size_t end = 0; // index of the step after which the reader cannot go on
  std::size_t left = 0;
  friend bool operator==(const outcome&, const outcome&) = default;
};

outcome read(std::string_view bytes, std::size_t piece) {
  frame_reader reader;
  outcome seen;
  while (!bytes.empty()) {
    reader.push(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    for (;;) {
      auto step = reader.next(ceiling);
      if (auto* got = std::get_if<frame_reader::frame>(&step)) {
        require(got->payload.size() <= ceiling);
        seen.payloads.push_back(std::move(got->payload));
        continue;
      }
      require(!std::holds_alternative<frame_reader::skipped>(step));
      if (std::holds_alternative<frame_reader::need_more>(step))
        break;
      seen.end = step.index();
      return seen; // how much is still held depends on the pieces
    }
  }
  seen.left = reader.buffered();
  require(reader.at_boundary() == (seen.left == 0));
  return seen;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const auto bytes = std::string_view{reinterpret_cast<const char*>(data), size}.substr(1);
  const auto whole = read(bytes, bytes.size() + 1);
  require(read(bytes, data[0] % 32 + std::size_t{1}) == whole);
  std::string again;
  for (const auto& payload : whole.payloads) {
    again += to_frame(payload);
    const auto parsed = parse_payload(payload);
    require(parsed.has_value() == read_envelope(payload).has_value());
    if (parsed)
      require(parse_payload(to_text(*parsed)) == parsed);
  }
  require(again.size() <= bytes.size());
  if (whole.end == 0)
    require(again.size() + whole.left == bytes.size());
  return 0;
}

// The stream of a watch from bytes of anyone's choosing. The first byte chooses the size of the pieces in which the rest arrives.
// Besides not crashing: pieces change nothing, an event is what it says it is, and after a fault nothing follows.
#include "k8s/object_cache.hpp"
#include "k8s/objects.hpp"
#include "k8s/projection.hpp"
#include "k8s/watch_event.hpp"
#include "tests/fuzz/require.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

using namespace paddock::k8s;
using paddock::require;

namespace {

/// What the stream says, as text: its events and how it ends.
std::string read(std::string_view bytes, std::size_t piece) {
  auto decoder = watch_decoder{1024};
  auto said = std::string{};
  while (!bytes.empty()) {
    decoder.take(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (auto next = decoder.next()) {
      if (!*next) {
        require(!decoder.next());
        return said + to_string(next->error());
      }
      const auto& event = **next;
      require(text_at(event.object, "/metadata/resourceVersion").has_value());
      said.append(to_string(event.what)).append(event.object.dump()).append("\n");
      if (event.what == watch_event::kind::bookmark)
        continue;
      const auto kept = kept_object{sandbox_projection().of(event.object), kept_object::form::packed};
      require(!kept.key().name.empty() && !kept.uid().empty());
      require(*kept.open() == sandbox_projection().of(event.object));
    }
  }
  return said;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const auto bytes = std::string_view{reinterpret_cast<const char*>(data), size}.substr(1);
  require(read(bytes, data[0] % 32 + std::size_t{1}) == read(bytes, bytes.size() + 1));
  return 0;
}

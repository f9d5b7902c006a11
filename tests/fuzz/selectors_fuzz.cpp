// A label selector on the first line, a field selector on the second, an object after them. What is refused says why; what is read
// chooses the same object each time, no more when it is said twice, and nothing that a part of it does not choose.

#include "embedded/object.hpp"
#include "embedded/selector.hpp"
#include "tests/fuzz/require.hpp"

#include <cstdint>
#include <string>
#include <string_view>

using namespace paddock::embedded;
using paddock::require;

namespace {

std::string_view next_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto out = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return out;
}

/// `parse` reads a text as a selector; `object` is the text of one.
template <class Parse>
void check(std::string_view text, std::string_view more, const std::string& object, Parse parse) {
  const auto one = parse(text);
  if (!one) {
    require(!one.error().empty());
    return;
  }
  const auto matches = one->matches_text(object);
  require(matches == parse(text)->matches_text(object));
  require(!one->empty() || matches);
  if (one->empty())
    return;
  const auto twice = parse(std::string{text} + "," + std::string{text});
  require(twice && twice->matches_text(object) == matches);
  const auto both = parse(std::string{text} + "," + std::string{more});
  require(both && (matches || !both->matches_text(object)));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 16 * 1024)
    return 0;
  auto text = std::string_view{reinterpret_cast<const char*>(data), size};
  const auto labels = next_line(text);
  const auto fields = next_line(text);
  const auto read = parse_json(text);
  const auto object = read ? *read : json::object();
  const auto kept = encode_json(object);
  check(labels, "a!=b", kept, [](std::string_view x) { return label_selector::parse(x); });
  if (const auto chosen = label_selector::parse(labels))
    require(chosen->matches(object) == chosen->matches_text(kept));
  for (const auto& kind : served_kinds())
    check(fields, "metadata.name=n", kept, [&](std::string_view x) { return field_selector::parse(kind, x); });
  return 0;
}

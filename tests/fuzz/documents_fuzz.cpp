// Any text is read or refused by a line of it, and what was read is printed so that it is read as the same again.

#include "documents/documents.hpp"
#include "tests/fuzz/require.hpp"

#include <algorithm>

using namespace paddock::documents;
using paddock::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = std::string_view{reinterpret_cast<const char*>(data), size};
  const auto last = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  const auto got = read_documents(text);
  if (!got) {
    require(got.error().line >= 1 && got.error().line <= last);
    return 0;
  }
  for (const auto& x : *got) {
    require(x.line >= 1 && x.line <= last);
    for (const auto& y : x.doubts)
      require(lines_of(text, {{x.line, y.path}}).front() <= last);
    const auto again = read_documents(to_yaml(x.value));
    require(again && again->size() == 1 && again->front().value == x.value && again->front().doubts.empty());
  }
  return 0;
}

#include "embedded/printer_path.hpp"

#include <re2/re2.h>

namespace paddock::embedded {

printer_path::printer_path(std::string_view text) {
  static const re2::RE2 form{R"(\.([A-Za-z0-9_]+)(?:\[\?\(@\.([A-Za-z0-9_]+)==['"]([^'"]*)['"]\)\])?)"};
  step one;
  re2::StringPiece rest{text.data(), text.size()};
  while (re2::RE2::Consume(&rest, form, &one.member, &one.key, &one.value))
    steps_.push_back(one);
}

const json* printer_path::find(const json& object) const {
  const auto* at = &object;
  for (const auto& x : steps_) {
    at = member(*at, x.member);
    if (at == nullptr)
      return nullptr;
    if (x.key.empty())
      continue;
    const auto same = [&](const json& item) { return text_at(item, {x.key}) == x.value; };
    const auto found = std::find_if(at->begin(), at->end(), same);
    if (!at->is_array() || found == at->end())
      return nullptr;
    at = &*found;
  }
  return at;
}

} // namespace paddock::embedded

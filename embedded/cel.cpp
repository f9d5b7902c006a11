#include "embedded/cel.hpp"

#include <algorithm>

namespace paddock::embedded::cel {

namespace {

/// `ERROR: <input>:1:5: why`, the line, and a mark below the place.
std::string point_out(std::string_view text, const problem& what) {
  const auto at = std::min(what.at, text.size());
  const auto before = text.substr(0, at);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const auto begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const auto end = std::min(text.find('\n', at), text.size());
  const auto column = static_cast<std::size_t>(std::count_if(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                                             text.begin() + static_cast<std::ptrdiff_t>(at),
                                                             [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
  return "ERROR: <input>:" + std::to_string(line) + ":" + std::to_string(column + 1) + ": " + what.text + "\n | "
         + std::string{text.substr(begin, end - begin)} + "\n | " + std::string(column, '.') + "^";
}

} // namespace

tl::expected<program, compile_failure> program::compile(std::string_view text, const environment& known) {
  auto root = parse(text);
  if (!root)
    return tl::unexpected{compile_failure{root.error().unsupported, point_out(text, root.error())}};
  auto found = check(**root, known);
  if (!found)
    return tl::unexpected{compile_failure{found.error().unsupported, point_out(text, found.error())}};
  program out;
  out.text_ = text;
  out.root_ = std::move(*root);
  out.result_ = std::move(found->result);
  out.depth_ = found->depth;
  return out;
}

evaluated program::run(const scope& names, budget& cost) const {
  auto out = evaluate(*root_, names, cost);
  if (cost.used_up())
    return cost_exceeded();
  return out;
}

} // namespace paddock::embedded::cel

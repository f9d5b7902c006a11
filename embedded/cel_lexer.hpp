#pragma once

#include "embedded/cel_syntax.hpp"

namespace paddock::embedded::cel {

struct token {
  enum class kind { end, identifier, number, text, symbol };
  kind what = kind::end;
  std::size_t at = 0;
  std::string text; // of an identifier or symbol; of a number as written
  value constant;   // of a text; of a number unless it is an integer without `u`
};

/// Takes an expression apart. White space and `//` comments are left out.
[[nodiscard]] tl::expected<std::vector<token>, problem> read_tokens(std::string_view text);

} // namespace paddock::embedded::cel

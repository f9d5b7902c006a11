#pragma once

#include "embedded/cel_function.hpp"
#include "embedded/cel_syntax.hpp"

namespace paddock::embedded::cel {

// The subset of the Common Expression Language that admission policies may use here: docs/embedded-admission.md.

/// What an expression may name, and what is known of it.
struct environment {
  std::map<std::string, type, std::less<>> names;
  /// The names that the API server knows and this interpreter does not.
  std::vector<std::string> unsupported;
};

/// Why a text is no expression of the subset.
struct compile_failure {
  bool unsupported = false; // a real server would take it
  std::string text;         // `ERROR: <input>:1:1: …`, with the line and a mark below it
};

/// What the names of an expression stand for.
class scope {
public:
  virtual ~scope() = default;
  virtual evaluated find(std::string_view name) const = 0;
  /// The member of the name `variables`: evaluated when it is first asked for.
  virtual evaluated variable(std::string_view name, budget& cost) const = 0;
};

/// An expression that was found good. Copies share it.
class program {
public:
  [[nodiscard]] static tl::expected<program, compile_failure> compile(std::string_view text, const environment& known);

  [[nodiscard]] const std::string& text() const noexcept {
    return text_;
  }
  [[nodiscard]] const type& result() const noexcept {
    return result_;
  }
  /// When `cost` is used up there is no value, whatever the expression says of errors.
  [[nodiscard]] evaluated run(const scope& names, budget& cost) const;

private:
  std::string text_;
  std::shared_ptr<const node> root_;
  type result_;
};

// -- the steps ----------------------------------------------------------------------------------------------------

[[nodiscard]] tl::expected<type, problem> check(const node& root, const environment& known);
[[nodiscard]] evaluated evaluate(const node& root, const scope& names, budget& cost);

} // namespace paddock::embedded::cel

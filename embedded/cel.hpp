#pragma once

#include "embedded/cel_function.hpp"
#include "embedded/cel_syntax.hpp"

namespace paddock::embedded::cel {

// The subset of the Common Expression Language that admission policies may use here: docs/embedded-admission.md.

/// What an expression may name, and what is known of it. The name `variables`, if it is there, is an object whose members are the
/// variables; it stands for nothing by itself.
struct environment {
  std::map<std::string, type, std::less<>> names;
  std::map<std::string, int, std::less<>> variable_depths; // of each variable, with what it names in turn
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
  /// The member of the name `variables`, which the expression was checked to have.
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
  /// How deep evaluating it goes, down through the variables that it names.
  [[nodiscard]] int depth() const noexcept {
    return depth_;
  }
  /// When `cost` is used up there is no value, whatever the expression says of errors.
  [[nodiscard]] evaluated run(const scope& names, budget& cost) const;

private:
  std::string text_;
  std::shared_ptr<const node> root_;
  type result_;
  int depth_ = 0;
};

// -- the steps ----------------------------------------------------------------------------------------------------

/// What is known of an expression once it was checked.
struct verdict {
  type result;
  int depth = 0;
};
[[nodiscard]] tl::expected<verdict, problem> check(const node& root, const environment& known);
[[nodiscard]] evaluated evaluate(const node& root, const scope& names, budget& cost);

} // namespace paddock::embedded::cel

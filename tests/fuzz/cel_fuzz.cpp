#include "embedded/cel.hpp"
#include "tests/fuzz/require.hpp"

// Reads and evaluates any text as an expression. It must end within its budget, answer a value or a reason, say the same
// twice, and point into the text when it refuses it.

namespace {

using namespace paddock::embedded;
using namespace paddock::embedded::cel;
using paddock::require;

constexpr std::int64_t steps = 20'000;

class fixed_scope final : public scope {
public:
  evaluated find(std::string_view name) const override {
    static const auto object = json::parse(R"({"metadata":{"name":"n","labels":{"a":"b"}},"spec":{"list":[1,2.5,"x",null,true,[],{}]}})");
    return name == "object" ? evaluated{value::of(object)} : evaluated{value{}};
  }
  evaluated variable(std::string_view name, budget&) const override {
    return value{value::content{std::string{name}}};
  }
};

environment known() {
  environment out;
  out.names = {{"object", type{}}, {"oldObject", type{}}, {"variables", object_type({{"v", type{}}})}};
  out.unsupported = {"authorizer"};
  return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto names = known();
  const std::string text{reinterpret_cast<const char*>(data), size};
  const auto made = program::compile(text, names);
  if (!made) {
    require(made.error().text.starts_with("ERROR: <input>:"));
    return 0;
  }
  const fixed_scope scope;
  budget first{steps};
  budget second{steps};
  const auto one = made->run(scope, first);
  const auto two = made->run(scope, second);
  require(one.has_value() == two.has_value() && first.used_up() == second.used_up() && !(first.used_up() && one));
  require(one || one.error() == two.error());
  // What was found to be a bool is one.
  require(!one || made->result().what != type::kind::boolean || one->as<bool>() != nullptr);
  return 0;
}

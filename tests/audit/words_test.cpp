#define CAF_SUITE words

#include "audit/render.hpp"
#include "audit/words.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock::audit;
using paddock::egress::label_map;
using paddock::egress::policy_owner;

SCENARIO("labels are keys and values with commas between") {
  CHECK_EQ(read_labels("").value(), label_map{});
  CHECK_EQ(read_labels("a=b").value(), (label_map{{"a", "b"}}));
  CHECK_EQ(read_labels("sandbox.namzu.ai/template=x,b=,C_d.e=1").value(),
           (label_map{{"sandbox.namzu.ai/template", "x"}, {"b", ""}, {"C_d.e", "1"}}));
  for (const auto* text : {"a", "=b", "a=b,", ",a=b", "a=b,,c=d", "a=b,a=c", "a b=c", "a=b c", "a=-b", "a=b.", "/a=b", "a=b=c", "a=\x1b"})
    CHECK(!read_labels(text));
  CHECK(read_labels("a=" + std::string(63, 'x')));
  CHECK(!read_labels("a=" + std::string(64, 'x')));
}

SCENARIO("an owner has a name and a uid, and is a Sandbox unless it says claim") {
  const auto sandbox = read_owner("s1=uid-1");
  REQUIRE(sandbox);
  CHECK(sandbox->kind == policy_owner::type::sandbox);
  CHECK_EQ(sandbox->name, "s1");
  CHECK_EQ(sandbox->uid, "uid-1");
  CHECK(read_owner("claim/c=u").value().kind == policy_owner::type::sandbox_claim);
  for (const auto* text : {"", "uid", "=uid", "s=", "s=U", "S=u", "pod/s=u", "claim/=u", "a b=u"})
    CHECK(!read_owner(text));
}

SCENARIO("what is printed is one line, and what is proposed is one word") {
  CHECK_EQ(one_line("a\nb\x1b[2Jc\x7f"), "a b [2Jc ");
  CHECK_EQ(one_line("ü"), "ü");
  CHECK_EQ(shell_word("namzu-task.x/y:1"), "namzu-task.x/y:1");
  CHECK_EQ(shell_word(""), "''");
  CHECK_EQ(shell_word("a b"), "'a b'");
  CHECK_EQ(shell_word("$(x) '"), "'$(x) '\\'''");
}

#define CAF_SUITE object_cache

#include "embedded/object_cache.hpp"
#include "embedded/pod_facts.hpp"

#include <caf/test/bdd_dsl.hpp>

using namespace paddock;
using namespace paddock::embedded;
using kind = k8s::watch_event::kind;
using nlohmann::json;

// What changes when is that of `k8s::object_cache` and tested there; here is what is found by uid and by owner.

namespace {

json object(const std::string& name, const std::string& uid, const std::string& version, const std::vector<std::string>& owners = {}) {
  auto result = json{{"metadata", {{"name", name}, {"namespace", "n"}, {"uid", uid}, {"resourceVersion", version}}}};
  for (const auto& x : owners)
    result["metadata"]["ownerReferences"].push_back(json{{"kind", "Sandbox"}, {"name", "s"}, {"uid", x}});
  return result;
}

k8s::kept kept(const std::string& name, const std::string& uid, const std::string& version, const std::vector<std::string>& owners = {}) {
  return object_cache::keep(object(name, uid, version, owners));
}

} // namespace

SCENARIO("an object is found by its uid until another stands under its name") {
  object_cache cache;
  cache.replace({kept("a", "1", "5")}, "5");
  CHECK(cache.find_uid("1") == cache.find("n", "a"));
  const auto changes = cache.apply(kind::added, kept("a", "2", "7"));
  REQUIRE_EQ(changes.size(), 2u);
  CHECK_EQ(uid_of(*changes[0].before), "1");
  CHECK_EQ(uid_of(*changes[1].after), "2");
  CHECK(!cache.find_uid("1"));
  CHECK(cache.find_uid("2"));
}

SCENARIO("a successor that an answer told outlives the news of the removal") {
  object_cache cache;
  cache.replace({kept("a", "1", "9")}, "9");
  cache.took(object("a", "2", "15"));
  cache.apply(kind::deleted, kept("a", "1", "14"));
  CHECK(cache.find_uid("2"));
  CHECK(!cache.find_uid("1"));
}

SCENARIO("dependants are found by the uid of any owner, as long as they name it") {
  object_cache cache;
  cache.apply(kind::added, kept("c", "u", "2", {"a", "b"}));
  CHECK_EQ(cache.owned_by("a").size(), 1u);
  CHECK_EQ(cache.owned_by("b").size(), 1u);
  cache.apply(kind::modified, kept("c", "u", "3", {"b"}));
  CHECK_EQ(cache.owned_by("a").size(), 0u);
  REQUIRE_EQ(cache.owned_by("b").size(), 1u);
  CHECK_EQ(text_in(*cache.owned_by("b")[0], "/metadata/resourceVersion"), "3");
  cache.apply(kind::deleted, kept("c", "u", "4", {"b"}));
  CHECK_EQ(cache.owned_by("b").size(), 0u);
}

SCENARIO("an answer that is no object is not kept") {
  object_cache cache;
  CHECK(cache.took(json::parse(R"({"kind":"Status","status":"Success"})")).empty());
  CHECK(cache.took(nullptr).empty());
  CHECK(cache.all().empty());
}

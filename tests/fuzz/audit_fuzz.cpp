// Any files are judged or refused: nothing in them ends the program, and every place that is told is in them.

#include "audit/egress_report.hpp"
#include "audit/fence_report.hpp"
#include "audit/ingress_report.hpp"
#include "egress/core_rules.hpp"
#include "tests/fuzz/require.hpp"

#include <algorithm>

using namespace paddock;

namespace {

const auto pod = egress::label_map{{std::string{egress::template_label_key}, "t"}};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = std::string{reinterpret_cast<const char*>(data), size};
  const auto last = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
  const auto files = std::vector<audit::source>{{"f", text}};
  const auto what = audit::egress_question{egress::compose(egress::deny_all{}, "n", "t-egress", pod), {"n", pod}};
  if (const auto got = audit::judge_files(files, what)) {
    for (const auto& x : got->judged.findings)
      require(x.place.line >= 1 && x.place.line <= last);
    require(got->within() == !audit::refusal_of(*got, what));
    require(got->within() == audit::to_text(*got, what).starts_with("within\n"));
    require(!audit::to_json(*got).dump(-1, ' ', false, nlohmann::json::error_handler_t::strict).empty());
  } else {
    require(got.error().place.line >= 1 && got.error().place.line <= last);
  }
  auto how = egress::per_sandbox_egress{"p"};
  how.permitted_hosts_param = egress::object_reference{"c", "n"};
  const auto fence = egress::fence_question{how, "n"};
  if (const auto got = audit::check_fence_in(files, fence))
    require(!audit::to_text(*got, fence).empty());
  const auto ingress = egress::ingress_question{"the pod", pod, "n"};
  if (const auto got = audit::check_ingress_in(files, egress::policy_engine::core, ingress))
    require(!audit::to_text(*got, ingress).empty());
  return 0;
}

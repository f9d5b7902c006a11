// What an exception that nobody catches ends with. The library's own handler also names its type, and brings a demangler with
// it that is larger than many an op.

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace __gnu_cxx {

void __verbose_terminate_handler();

void __verbose_terminate_handler() {
  try {
    if (auto thrown = std::current_exception())
      std::rethrow_exception(thrown);
  } catch (const std::exception& x) {
    std::fprintf(stderr, "paddock-guest: %s\n", x.what());
  } catch (...) {
    std::fputs("paddock-guest: an exception of an unknown type\n", stderr);
  }
  std::abort();
}

} // namespace __gnu_cxx

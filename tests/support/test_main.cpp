// The one main of every test program: CAF's, for `-v 4`. Only there does it say which check failed, with a line for each that
// passed as well; those are left out.
#define CAF_TEST_NO_MAIN_GUARD
#define CAF_TEST_NO_MAIN
#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <caf/test/unit_test_impl.hpp>

#include <iostream>
#include <mutex>
#include <streambuf>
#include <string>
#include <string_view>

namespace {

/// Hands on whole lines, also those of several threads, but for the passed checks'.
class without_passed_checks final : public std::streambuf {
public:
  explicit without_passed_checks(std::streambuf& to) : to_(to) {
  }

protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof()))
      return traits_type::not_eof(c);
    const auto one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    const auto guard = std::lock_guard{mutex_};
    line_.append(text, static_cast<std::size_t>(size));
    for (auto end = line_.find('\n'); end != std::string::npos; end = line_.find('\n')) {
      const auto line = std::string_view{line_}.substr(0, end + 1);
      if (!line.starts_with("** ") || !line.ends_with("passed\n"))
        to_.sputn(line.data(), static_cast<std::streamsize>(line.size()));
      line_.erase(0, end + 1);
    }
    return size;
  }
  int sync() override {
    return to_.pubsync();
  }

private:
  std::streambuf& to_;
  std::mutex mutex_;
  std::string line_;
};

} // namespace

int main(int argc, char** argv) {
  auto& real = *std::cerr.rdbuf();
  auto filter = without_passed_checks{real};
  std::cerr.rdbuf(&filter);
  caf::core::init_global_meta_objects();
  const auto failed = caf::test::main(argc, argv);
  std::cerr.rdbuf(&real);
  return failed;
}

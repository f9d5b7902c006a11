#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::cli {

/// What the keys of a terminal say to this client and not to the program ([`~.`] at the beginning of a line). Everything else
/// passes through, as it is.
class escape_reader {
public:
  enum class order { leave, stop, help };
  struct taken {
    std::string input;         // for the program
    std::vector<order> orders; // in order
  };
  /// `~.` leaves, `~^Z` stops this client, `~?` asks for help, `~~` is one `~`; before any other key a `~` is a `~`.
  [[nodiscard]] taken take(std::string_view keys);

private:
  bool line_began_ = true;
  bool tilde_ = false;
};

/// The text of `~?`.
[[nodiscard]] std::string_view escape_help();

/// (columns, rows) of the terminal behind `fd`; 80 x 24 where there is none, and 1 to 1000 in any case.
[[nodiscard]] std::pair<int, int> window_of(int fd);

/// Raw mode of the terminal behind standard input, from `enter` to `restore`. It is restored on every way out: a return, an exit,
/// a signal that ends the process. Where standard input is no terminal nothing is changed.
class raw_mode {
public:
  raw_mode();
  ~raw_mode();
  raw_mode(const raw_mode&) = delete;
  raw_mode& operator=(const raw_mode&) = delete;
  [[nodiscard]] bool is_terminal() const noexcept {
    return terminal_;
  }
  void enter();
  void restore();

private:
  bool terminal_;
};

} // namespace paddock::cli

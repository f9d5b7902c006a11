// The one main of every test program.
#define CAF_TEST_NO_MAIN_GUARD
#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <caf/test/unit_test_impl.hpp>

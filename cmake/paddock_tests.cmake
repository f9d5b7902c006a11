# Tests use CAF's test framework. One executable a folder keeps link time down; ctest sees one entry a suite.

if(PADDOCK_TESTS)
  set(PADDOCK_PCH_tests ${PADDOCK_PCH_rules} <boost/asio.hpp> <caf/all.hpp> <caf/io/all.hpp>)
  add_library(paddock_pch_tests OBJECT "${CMAKE_BINARY_DIR}/pch.cpp")
  target_link_libraries(paddock_pch_tests PRIVATE ${PADDOCK_LIBS_flows} CAF::core CAF::io CAF::test)
  target_compile_definitions(paddock_pch_tests PRIVATE ${PADDOCK_DEFINES_flows})
  target_compile_options(paddock_pch_tests PRIVATE ${PADDOCK_WARNINGS})
  target_include_directories(paddock_pch_tests PRIVATE "${CMAKE_SOURCE_DIR}")
  target_precompile_headers(paddock_pch_tests PRIVATE ${PADDOCK_PCH_tests})
  add_library(paddock_test_main OBJECT "${CMAKE_SOURCE_DIR}/tests/support/test_main.cpp")
  target_link_libraries(paddock_test_main PRIVATE CAF::core CAF::io CAF::test)
  # Every program that a unit test runs, and nothing that only the system tests and the simulation need: a sanitizer's build is slow
  # enough.
  add_custom_target(unit_tests)
endif()

# paddock_tests(FOLDER SOURCES a_test.cpp ... LINKS ours ... [LIBS theirs ...] [LABELS ...] [TIMEOUT seconds] [UNDER command ...])
# Every a_test.cpp holds the suite "a" (`#define CAF_SUITE a`). A *_test.cpp of the folder that is not listed stops the
# configuration in CI (a warning elsewhere), so that no test is forgotten; a suite that runs no test fails. UNDER is what the
# test program is run by.
function(paddock_tests folder)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LINKS;LIBS;LABELS;ALSO;UNDER" ${ARGN})
  file(GLOB present RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp")
  list(TRANSFORM arg_LINKS PREPEND paddock_ OUTPUT_VARIABLE ours)
  foreach(source IN LISTS present)
    if(NOT source IN_LIST arg_SOURCES)
      if(PADDOCK_WERROR)
        message(FATAL_ERROR "tests/${folder}/${source} is in no paddock_tests() list")
      endif()
      message(WARNING "tests/${folder}/${source} is in no paddock_tests() list")
    endif()
  endforeach()
  set(program ${folder}_tests)
  add_executable(${program} ${arg_SOURCES} ${arg_ALSO} $<TARGET_OBJECTS:paddock_test_main>)
  target_link_libraries(${program} PRIVATE ${ours} paddock_base_asio ${PADDOCK_LIBS_flows} CAF::core CAF::io CAF::test ${arg_LIBS})
  target_compile_definitions(${program} PRIVATE ${PADDOCK_DEFINES_flows})
  target_include_directories(${program} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_compile_options(${program} PRIVATE ${PADDOCK_WARNINGS})
  target_precompile_headers(${program} REUSE_FROM paddock_pch_tests)
  if(NOT "system" IN_LIST arg_LABELS AND NOT "sim" IN_LIST arg_LABELS)
    add_dependencies(unit_tests ${program})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  foreach(source IN LISTS arg_SOURCES)
    string(REGEX REPLACE "_test\\.cpp$" "" suite "${source}")
    # One scenario may take as long as ctest gives the suite: on a busy machine CAF's own 30 s end what only waits for its turn.
    add_test(NAME ${folder}.${suite} COMMAND ${arg_UNDER} $<TARGET_FILE:${program}> -s "^${suite}$" -v 4 -r 0)
    set_tests_properties(${folder}.${suite} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}" SKIP_RETURN_CODE 77
      # A filter that matches nothing exits 0: no suite at all is a failure, not a success.
      FAIL_REGULAR_EXPRESSION "Suites:[ ]+0;Tests:[ ]+0;tests:[ ]+0")
  endforeach()
endfunction()

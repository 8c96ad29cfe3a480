// The main of contracts that run on one process.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include "catch/asserted.hpp"
#include "catch/run_tests.hpp"

using namespace gnnbench::tests;

CATCH_REGISTER_LISTENER(CountsAssertions)

int main(int argc, char** argv) {
    bool ran = false;
    const int result = run_tests(argc, argv, [&] {
        ran = true;
        return RunSettings{.expects_assertions = true};
    });
    return ran ? judged(result) : result;
}

// The main of tests that run on one process.
#include "catch/run_tests.hpp"

int main(int argc, char** argv) {
    return gnnbench::tests::run_tests(argc, argv, [] { return gnnbench::tests::RunSettings{}; });
}

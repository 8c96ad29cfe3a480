// The main of tests under MPI: every rank runs the same tests in the same order; only rank 0 speaks, all fail together. A
// rank that leaves a test early ends them all, with what it has to say: the others may be waiting for it. Of the others
// only failed checks are printed.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>

#include "catch/asserted.hpp"
#include "catch/run_tests.hpp"
#include "mpi/check.hpp"

namespace {

class EndsAllRanks final : public Catch::TestEventListenerBase {
public:
    using TestEventListenerBase::TestEventListenerBase;

    bool assertionEnded(const Catch::AssertionStats& stats) override {
        const Catch::AssertionResult& result = stats.assertionResult;
        int started = 0, rank = 0, size = 1;
        MPI_Initialized(&started);
        if (!started || result.isOk()) return false;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        const bool leaves = leaves_test(result);
        if (size == 1 || (rank == 0 && !leaves)) return false;  // Catch reports this one
        std::cout.flush();
        std::cerr << "rank " << rank << " of " << size << (leaves ? " left a test early: " : " failed: ")
                  << result.getSourceInfo() << ": "
                  << (result.hasExpression() ? result.getExpressionInMacro() + " " : "")
                  << (result.hasExpandedExpression() ? "with " + result.getExpandedExpression() + " " : "")
                  << (threw(result) ? reason() : result.getMessage()) << '\n';
        for (const Catch::MessageInfo& info : stats.infoMessages) std::cerr << "  " << info.message << '\n';
        std::cerr.flush();
        if (leaves) MPI_Abort(MPI_COMM_WORLD, 1);
        return false;
    }

private:
    static bool threw(const Catch::AssertionResult& result) {
        return result.getResultType() == Catch::ResultWas::ThrewException;
    }
    /// REQUIRE and FAIL leave it; so does an exception that no assertion waits for. CHECK goes on.
    static bool leaves_test(const Catch::AssertionResult& result) {
        return threw(result) || !Catch::shouldContinueOnFailure(result.m_info.resultDisposition);
    }
    /// Of the exception that Catch handles, which it translates only where it is not compiled to be fast.
    static std::string reason() {
        try {
            if (const auto exception = std::current_exception()) std::rethrow_exception(exception);
        } catch (const std::exception& e) {
            return e.what();
        } catch (...) {
        }
        return "an exception of no known type";
    }
};
CATCH_REGISTER_LISTENER(EndsAllRanks)
using gnnbench::tests::CountsAssertions;
CATCH_REGISTER_LISTENER(CountsAssertions)

}  // namespace

int main(int argc, char** argv) {
    using namespace gnnbench::tests;
    int rank = 0;
    bool ran = false;
    int result = run_tests(argc, argv, [&] {
        int provided = 0;
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        ran = true;
        return RunSettings{.expects_assertions = rank == 0,
                           .reports = rank == 0};  // others may have nothing to say
    });
    if (!ran) return result;
    if (rank == 0) result = judged(result);
    MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return result == 0 ? 0 : 1;
}

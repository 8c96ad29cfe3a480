// What `run` says at its end.
#include <catch2/catch.hpp>

#include "run/sweep_text.hpp"

using namespace gnnbench;

TEST_CASE("a sweep that measured what was due says how much, and what was there") {
    CHECK(sweep_text({}) == "nothing to run");
    CHECK(sweep_text({.already_done = 6, .failed_before = 2}) ==
          "nothing to run; 6 trials there already (2 of them failed: --failed reruns them)");
    CHECK(sweep_text({.due = 3, .run = 3, .already_done = 6}) == "3 trials run; 6 trials there already");
    CHECK(sweep_text({.due = 1, .run = 1, .failed = 1}) == "1 trial run (1 failed)");
    CHECK(sweep_text({.already_done = 6, .verified = 2}) ==
          "nothing to run; 6 trials there already; 2 combinations of scheme and setting checked");
    CHECK(sweep_text({.due = 4, .run_by_others = 4}) == "0 trials run; 4 run by another gnnbench");
    CHECK(sweep_text({.due = 2, .skipped = 1}) == "0 trials run; 1 cell skipped");
}

TEST_CASE("a sweep that ended early never says that there was nothing to run") {
    CHECK(sweep_text({.due = 12, .verified = 1, .interrupted = true}) ==
          "0 of 12 trials run; 1 combination of scheme and setting checked");
    CHECK(sweep_text({.due = 12, .run = 5, .interrupted = true}) == "5 of 12 trials run");
    CHECK(sweep_text({.interrupted = true}) == "0 trials run");
    CHECK(sweep_text({.due = 12, .run = 2, .failed = 2, .stopped_early = true}) ==
          "2 of 12 trials run (2 failed)");
    CHECK(sweep_text({.due = 4, .unstarted = 3}) == "0 of 4 trials run");
    CHECK(sweep_text({.due = 4, .jobs_left = 1}) == "0 of 4 trials run");
    CHECK(sweep_text({.due = 4, .never_begun = 4}) == "0 of 4 trials run");
}

TEST_CASE("trials that were not run because their combination is wrong do not count as run") {
    CHECK(sweep_text({.due = 4, .run = 2, .failed = 2, .failed_verification = 1, .unmeasured = 2}) ==
          "2 trials run; 2 trials recorded as failed without being run; 1 combination FAILED verification");
}

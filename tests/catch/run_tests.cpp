#define CATCH_CONFIG_RUNNER
#include "catch/run_tests.hpp"

#include <catch2/catch.hpp>

namespace gnnbench::tests {

int run_tests(int argc, char** argv, const std::function<RunSettings()>& begin) {
    Catch::Session session;
    if (const int bad = session.applyCommandLine(argc, argv); bad != 0) return bad;
    Catch::ConfigData& config = session.configData();
    if (config.listTests || config.listTestNamesOnly || config.listTags || config.listReporters)
        return session.run();
    const RunSettings settings = begin();
    if (!settings.reports) config.outputFilename = "/dev/null";
    if (settings.expects_assertions)
        config.warnings = static_cast<Catch::WarnAbout::What>(config.warnings | Catch::WarnAbout::NoAssertions |
                                                              Catch::WarnAbout::NoTests);
    return session.run();
}

}  // namespace gnnbench::tests

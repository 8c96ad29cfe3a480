// Catch's main for contracts that run on one process.
#define CATCH_CONFIG_RUNNER
#include "contract/asserted.hpp"

using namespace gnnbench::contract;

CATCH_REGISTER_LISTENER(CountsAssertions)

int main(int argc, char** argv) {
    Catch::Session session;
    if (const int bad = session.applyCommandLine(argc, argv); bad != 0) return bad;
    Catch::ConfigData& config = session.configData();
    if (config.listTests || config.listTestNamesOnly || config.listTags || config.listReporters)
        return session.run();
    expect_assertions(config);
    return judged(session.run());
}

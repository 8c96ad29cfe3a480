// docs/database.md lists the views' columns as the schema has them.
// To write them anew: GNNBENCH_REWRITE=1 ctest --test-dir build/release -R unit.record
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

#include "record/schema.hpp"

using namespace gnnbench;

TEST_CASE("the committed columns of the views are those of the schema") {
    const std::string file = std::string(GNNBENCH_SOURCE_DIR) + "/docs/database.md";
    std::ifstream in(file, std::ios::binary);
    std::string page{std::istreambuf_iterator<char>(in), {}};
    const std::string begin = "<!-- columns of the views, written by unit.record -->\n",
                      end = "<!-- end of the columns -->";
    const std::size_t from = page.find(begin), to = page.find(end);
    REQUIRE(from != std::string::npos);
    REQUIRE(to != std::string::npos);
    const std::string found = page.substr(from + begin.size(), to - from - begin.size()),
                      expected = "\n" + view_reference() + "\n";
    if (std::getenv("GNNBENCH_REWRITE")) {
        page.replace(from + begin.size(), found.size(), expected);
        std::ofstream(file, std::ios::binary) << page;
        WARN("wrote " << file);
        return;
    }
    INFO("To write it anew: GNNBENCH_REWRITE=1 ctest -R unit.record");
    CHECK(found == expected);
}

#include <fstream>

#include <catch2/catch.hpp>
#include <gnnbench/error.hpp>
#include <gnnbench/temporary_folder.hpp>

#include "spec/text_file.hpp"

using namespace gnnbench;

TEST_CASE("a text file's byte order mark is no part of it, UTF-16 is named") {
    const TemporaryFolder folder("text");
    const auto file = folder.path() / "e.yaml";
    std::ofstream(file, std::ios::binary) << "\xef\xbb\xbfname: e\n";
    CHECK(read_text_file(file, "expected an experiment at") == "name: e\n");
    for (const std::string& wide : {std::string("\xff\xfen\0", 4), std::string("n\0a\0", 4)}) {
        std::ofstream(file, std::ios::binary) << wide;
        CHECK_THROWS_WITH(read_text_file(file, "expected an experiment at"),
                          Catch::StartsWith("expected an experiment at") && Catch::Contains("it is UTF-16"));
    }
}
